import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// `authc login` with nothing configured, and the real agent. Each answer: FirstSignInTests.
@Suite("The first sign-in with the real agent", .timeLimit(.minutes(2)))
struct FirstSignInSceneTests {
    /// As a new user sees it.
    private static let choices = """
        What do you want to sign in to?
          1  a URL: an MCP server, or another resource that describes its sign-in
          2  a known provider: atlassian, auth0, discord, forgejo, github, gitlab,
             google, keycloak, linear, microsoft, notion, okta, slack, spotify
          3  an API with an OpenAPI or Swagger description
          4  a server of a bundled profile: anonymous-wall, app-template, aws-lambda,
             envelope, fork-in-the-road
        Number, name or URL:\u{20}
        """

    @Test("offers all five bundled profiles, and gets a new user a token within a minute")
    func bundled() async throws {
        try await Scene.play { scene in
            try FileManager.default.removeItem(atPath: scene.desktop.folder.path + "/config/authd/authd.toml")
            try await scene.restart()
            let start = ContinuousClock.now
            let terminal = try await scene.terminal("authc login", with: ["NO_COLOR": "1"])
            await terminal.waits(for: "Number, name or URL: ")
            #expect(terminal.text.replacing("\r\n", with: "\n") == Self.choices, "\(terminal.text)")
            for (question, answer) in [
                ("URL: ", "app-template"), ("one of these names: ", scene.backends.url(.appTemplate)),
                ("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1"),
            ] {
                await terminal.waits(for: question)
                terminal.type(answer + "\n")
            }
            await terminal.ends()
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            let token = try await scene.authc(["token"])
            #expect(token.status == 0 && !token.out.isEmpty, "\(token)")
            // It takes a second or two.
            #expect(ContinuousClock.now - start < .seconds(60))
            #expect(try await scene.agent.status("app-template").environment == "mine")
        }
    }
}
