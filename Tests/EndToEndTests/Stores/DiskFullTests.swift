import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real agent on a disk that is full, in a separate mount namespace.
@Suite("On a full disk", .serialized, .timeLimit(.minutes(2)))
struct DiskFullTests {
    /// Mounts a small disk where the state is, fills it at the test's word, and becomes the agent.
    private static func script(_ scene: Scene) -> [String] {
        let orders = scene.desktop.folder.path + "/orders"
        return [
            "unshare", "--mount", "--map-root-user", "sh", "-c",
            """
            mkdir -p "$XDG_STATE_HOME/authd" && mkfifo -m 600 '\(orders)' && mount -t tmpfs -o size=256k,mode=700 none \\
                "$XDG_STATE_HOME/authd" || exit 1
            {
                read -r order < '\(orders)'
                dd if=/dev/zero of="$XDG_STATE_HOME/authd/filler" bs=4k 2>/dev/null
                echo full > '\(orders)'
            } &
            exec "$@"
            """, "sh",
        ]
    }

    /// A command in the agent's user namespace: a client in another one would count as one in a sandbox.
    private static func authc(
        _ arguments: [String], input: String? = nil, in scene: Scene
    ) async throws -> Child.Output {
        let enter = ["nsenter", "--user", "--preserve-credentials", "--target", "\(try scene.agent.child.pid)", "--"]
        return try await scene.desktop.run(enter + [Programs.authc] + arguments, input: input)
    }

    @Test("status, doctor and the log name it, and the token that could not be written is served")
    func full() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.agent.child.end()
            let key = try scene.desktop.folder.write(String(repeating: "k", count: 40), to: "key")
            chmod(key, 0o600)
            try scene.prependSettings("sealed_key = \"\(key)\"\n")
            try await scene.startAgent(["--store", "sealed-file"], through: Self.script(scene))
            let login = [
                "login", "app-template", "--environment", "local", "--field", "email=ada@example.org",
                "--password-stdin",
            ]
            #expect(try await Self.authc(login, input: "Correct-horse1", in: scene).status == 0)
            let token = try await Self.authc(["token"], in: scene).out
            let orders = scene.desktop.folder.path + "/orders"
            let filled = try await scene.desktop.run(
                ["sh", "-c", "echo fill > \"$0\" && read -r word < \"$0\" && echo \"$word\"", orders])
            #expect(filled.out == "full\n")

            #expect(try await Self.authc(["refresh"], in: scene).status == 0)
            let renewed = try await Self.authc(["token"], in: scene).out
            #expect(renewed != token)
            for command in [["status"], ["doctor"]] {
                let output = try await Self.authc(command, in: scene)
                let words = output.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(words.contains("the disk is full"), "\(command): \(output.out) \(output.err)")
            }
            let shown = try await Self.authc(["status", "-s", "app-template", "--json"], in: scene)
            let status = try SessionStatus(JSON(parsing: Array(shown.out.utf8)))
            #expect(status.unsaved && status.storeError?.contains("No space left on device") == true)
            try await scene.agent.child.end()
            #expect(try scene.agent.child.err.text.contains("in memory only: The store failed: cannot"))
        }
    }
}
