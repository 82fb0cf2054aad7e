import AuthModel
import AuthProviders
import AuthWire
import Foundation
import Testing

@Suite("Docs/profiles.md")
struct DocumentationTests {
    /// The TOML blocks of the page, in order.
    private static func blocks() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("Docs/profiles.md"), encoding: .utf8)
        return page.components(separatedBy: "```toml\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
    }

    @Test("the example profile is valid and does what the page says")
    func example() throws {
        let text = try #require(try Self.blocks().first { $0.contains("name = \"library\"") })
        let profile = try ProfileReader.read(text, source: "library.toml")
        #expect(profile.environments.map(\.name) == ["production", "local"])
        #expect(profile.signIn.map(\.name) == ["card", "register"])
        #expect(profile.renewal.kind == .refresh)
        let request = try profile.signInRequest(
            method: profile.method(named: nil), environment: "local",
            fields: ["card": Secret("0042"), "pin": Secret("1234")])
        #expect(request.url == "http://localhost:4000/v2/sessions?lang=en")
        #expect(
            request.body?.reveal()
                == #"{"data":{"card":"0042","pin":"1234","device":{"name":"authd","trusted":false}}}"#)
        let grant = try profile.readSignIn(
            HTTPResponse(
                status: 201, headers: [],
                body: Array(
                    #"{"data":{"access":"a-1","refresh":"r-1","lifetime":"900","reader":{"no":7,"mail":"ada@example.org","given":"Ada","family":"Lovelace"}},"ok":true}"#
                        .utf8)),
            method: profile.method(named: nil), sentAt: WallTime(unixSeconds: 1000)
        )
        #expect(grant.expiresAt?.unixSeconds == 1900)
        #expect(grant.user == UserSummary(id: "7", email: "ada@example.org", name: "Ada Lovelace"))
    }

    @Test("the settings are valid")
    func settings() throws {
        let text = try #require(try Self.blocks().first { $0.contains("allowed_user_ids") })
        let settings = try SettingsReader.read(text, source: "authd.toml")
        #expect(settings.environments["aws-lambda"]?.count == 1)
        #expect(settings.http.proxy == "http://proxy.example:3128")
    }

    @Test("the broken profile has the problems that the page shows")
    func problems() throws {
        let blocks = try Self.blocks()
        let text = try #require(blocks.first { $0.contains("name = \"Library\"") })
        guard case .failure(let failure) = ReadingResult.profile(text, source: "library.toml") else {
            Issue.record("no problems")
            return
        }
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("Docs/profiles.md"), encoding: .utf8)
        #expect(!failure.problems.isEmpty)
        for problem in failure.problems { #expect(page.contains("\(problem)"), "\(problem)") }
    }
}
