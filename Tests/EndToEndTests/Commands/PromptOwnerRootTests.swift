import Foundation
import TestSupport
import Testing

/// `Tests/run-suites` leaves suites of this name out unless it runs as root: only root can give a file to another user.
@Suite("Another user's prompt line (as root)", .timeLimit(.minutes(1)))
struct PromptOwnerRootTests {
    private static func shell(_ name: String, _ options: String, _ evaluate: String) -> [String] {
        [name, options, "-c", evaluate + "; authd_prompt; printf '%s\\n' \"$AUTHD_PROMPT\""]
    }

    static let commands = [
        [Programs.authc, "prompt"], [Programs.folder + "/authc-full", "prompt"],
        shell("bash", "--norc", #"eval "$(authc shell-init bash)""#),
        shell("zsh", "-f", #"eval "$(authc shell-init zsh)""#),
        shell("fish", "--no-config", "authc shell-init fish | source"),
    ]

    @Test("is not shown to root, whose environment may name that user's folder", arguments: commands)
    func otherOwner(command: [String]) async throws { try await expectOwnOnly(command) }

    @Test("is not shown by the lines of the README", arguments: ["sh", "bash", "zsh"])
    func readme(shell: String) async throws {
        let lines = try #require(try ProviderPage.readme("In your own programs").blocks("sh").first)
        try await expectOwnOnly([shell, "-c", lines + #"printf '%s\n' "$session""#])
    }

    private func expectOwnOnly(_ command: [String]) async throws {
        let folder = try TemporaryFolder()
        let line = "shop:ada@example.org"
        let file = try folder.write("\(getpid()) \(line)\n", to: "authd/prompt")
        let environment = [
            "XDG_RUNTIME_DIR": folder.path, "HOME": folder.path, "PATH": Programs.folder + ":/usr/bin:/bin",
            "LANG": "C.UTF-8",
        ]
        for (owner, shown) in [(getuid(), line), (65534, "")] {
            #expect(chown(file, owner, owner) == 0)
            let output = try await Child(command, environment: environment).output()
            #expect(output.status == 0 && output.out.trimmingCharacters(in: .newlines) == shown, "\(output)")
        }
    }
}
