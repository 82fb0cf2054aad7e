import AuthWire
import Foundation
import Testing

/// A sign-in leads to a token.
@Suite("What authc advises before and after a sign-in", .timeLimit(.minutes(1)))
struct SignInAdviceTests {
    private static let login =
        "authc login app-template --field email=ada@example.org --secret-fd password=3 3<password"

    @Test(
        "after a sign-in, the command for its token is named on a terminal only, and not beside JSON",
        arguments: [("", true), (" --json", false), (" 2>log", false)])
    func token(end: String, isNamed: Bool) async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        try "right".write(toFile: agent.folder + "/password", atomically: true, encoding: .utf8)
        let terminal = try await Terminal(
            "cd \"$XDG_RUNTIME_DIR\"; \(Self.login)\(end); echo \"exit $?\"; touch log; cat log; echo =end=",
            folder: agent.folder)
        await terminal.waits(for: "=end=\r\n")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
        #expect(terminal.text.contains("`authc token -s shop` prints the token.") == isNamed, "\(terminal.text)")
    }
}
