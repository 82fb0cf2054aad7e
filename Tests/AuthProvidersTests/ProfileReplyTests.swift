import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("The places of values in a profile")
struct ProfileReplyTests {
    @Test("a token's place is a pointer, a header or a cookie")
    func places() throws {
        let text = Bench.text(
            17,
            #"""
            access_token = { header = "X-Token" }
            refresh_token = { cookie = "refresh" }
            expires_at = "/end"
            """#)
        let reply = try ProfileReader.read(text, source: "mine.toml").reply
        #expect(reply.accessToken == .header("X-Token") && reply.refreshToken == .cookie("refresh"))
        #expect(reply.expiresAt == .pointer(try JSONPointer("/end")))
    }

    @Test("a refresh token in a kept cookie renews a session after its token has ended")
    func cookies() throws {
        func profile(cookies: Bool) throws -> ProviderProfile {
            let text = "cookies = \(cookies)\n" + Bench.text(18, "user = \"/user\"\nrefresh_token = { cookie = \"r\" }")
            return try ProfileReader.read(text, source: "mine.toml")
        }
        #expect(try profile(cookies: true).keepsCookies && !profile(cookies: true).renewsByToken)
        #expect(try !profile(cookies: false).keepsCookies && profile(cookies: false).renewsByToken)
    }

    @Test("a list of errors is an envelope without a value for success, and has the details")
    func errorList() throws {
        let errors = try ProfileReader.read(Bench.text(23, "list = \"/errors\""), source: "mine.toml").errors
        #expect(errors.envelope == .init(pointer: try JSONPointer("/errors"), success: nil))
        #expect(errors.details == (try JSONPointer("/errors")))
        let both = Bench.text(22, "message = \"/m\"\nlist = \"/errors\"")
        #expect(Bench.problems(both).map(\.key) == ["errors.list"])
    }

    @Test("the user and the address have alternatives, and a sign-in can require parts")
    func fallbacks() throws {
        let text = Bench.text(18, "user = [\"/user\", \"\"]\nrequired = [\"user\", \"expires_at\"]")
            .replacing("id = \"/id\"", with: "id = \"/id\"\nemail = [\"/email\", \"/mail\"]")
        let profile = try ProfileReader.read(text, source: "mine.toml")
        #expect(profile.reply.user == [try JSONPointer("/user"), .whole])
        #expect(profile.reply.required == [.user, .expiresAt])
        #expect(profile.user.email == [try JSONPointer("/email"), try JSONPointer("/mail")])
    }

    @Test("a rule says which response to a sign-in is a success; one that says nothing is a problem")
    func success() throws {
        func text(_ rule: String) -> String { Bench.text(18, "user = \"/user\"\nsuccess = \(rule)") }
        let rule = "{ status = [302, 303], place = { header = \"Location\" }, equals = \"/home\" }"
        let profile = try ProfileReader.read(text(rule), source: "mine.toml")
        #expect(
            profile.reply.success
                == ResponseRule(statuses: [302, 303], place: .header("Location"), value: .equals(["/home"])))
        #expect(Bench.problems(text("{}")).map(\.key) == ["reply.success"])
        #expect(Bench.problems(text("{ status = 700 }")).map(\.key) == ["reply.success.status"])
        #expect(Bench.problems(text("302")).map(\.key) == ["reply.success"])
    }
}
