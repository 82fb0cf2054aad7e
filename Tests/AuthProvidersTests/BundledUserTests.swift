import AuthModel
import AuthProviders
import AuthWire
import Testing

/// The user as read with each bundled profile.
@Suite("Users of the bundled profiles")
struct BundledUserTests {
    private func profile(_ name: String) throws -> ProviderProfile {
        let text = try #require(BundledProfiles.texts[name])
        return try ProfileReader.read(text, source: BundledProfiles.source)
    }

    private func reply(_ body: String) -> HTTPResponse {
        HTTPResponse(status: 200, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
    }

    @Test(
        "a wrapped user, a bare one, and one with _id are read",
        arguments: [
            ("aws-lambda", "userId", ""), ("envelope", "userId", #""errorCode":0,"#), ("fork-in-the-road", "id", ""),
            ("app-template", "id", ""),
        ])
    func shapes(name: String, id: String, envelope: String) throws {
        let profile = try profile(name)
        for (key, value) in [(id, "u-1"), ("_id", "u-1"), (id, " u-1\\n")] {
            let user = #""\#(key)":"\#(value)","email":"ada@example.org""#
            for body in ["{\(envelope)\"user\":{\(user)}}", "{\(envelope)\(user)}"] {
                let read = try profile.readUser(reply(body)).summary
                #expect(read.id == "u-1" && read.email == "ada@example.org", "\(body)")
            }
        }
        let failure = #expect(throws: ProviderFailure.self) {
            try profile.readUser(reply("{\(envelope)\"message\":\"ok\"}"))
        }
        #expect(failure?.error.cause == "no_user")
    }

    @Test("whitespace around a userId is not sent")
    func trimmedArgument() throws {
        let arguments = try profile("envelope").endpoints.flatMap(\.arguments).filter { $0.name == "userId" }
        #expect(arguments.count == 2 && arguments.allSatisfy(\.trims))
    }
}
