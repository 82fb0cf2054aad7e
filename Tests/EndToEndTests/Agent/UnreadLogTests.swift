import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real agent, with a log that nobody receives for a while.
@Suite("A log that nobody reads", .serialized, .timeLimit(.minutes(2)))
struct UnreadLogTests {
    /// Runs authd with the socket in that folder as the journal's.
    private static func script(_ folder: String) -> [String] {
        (geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--mount", "--map-root-user"]) + [
            "sh", "-c",
            """
            mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal && mount --bind "$0" /run/systemd/journal || exit 1
            JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"
            """, folder,
        ]
    }

    /// A client in the agent's user namespace: one in another would count as one in a sandbox.
    private static func authc(_ arguments: String..., input: String? = nil, in scene: Scene) async throws
        -> Child.Output
    {
        let enter = ["nsenter", "--user", "--preserve-credentials", "--target", "\(try scene.agent.child.pid)", "--"]
        let command = [Programs.authc] + arguments
        return try await scene.desktop.run((geteuid() == 0 ? [] : enter) + command, input: input)
    }

    private static func login(_ scene: Scene) async throws {
        let login = try await authc(
            "login", "app-template", "--environment", "local", "--field", "email=ada@example.org",
            "--password-stdin", input: "Correct-horse1", in: scene)
        #expect(login.status == 0, "\(login.err)")
    }

    /// The numbers of the audit entries in the journal, in the order of their first lines.
    private static func entries(_ journal: NotifySocket) -> [Int] {
        let name = "AUTHD_AUDIT="
        var found: Set<Int> = []
        return journal.received.split(separator: "\n").compactMap { line in
            line.hasPrefix(name) ? Int(line.dropFirst(name.count)) : nil
        }.filter { found.insert($0).inserted }
    }

    @Test("in the journal delays neither callers nor the agent's end; all lines are written later, in order")
    func journal() async throws {
        try await Scene.play { scene in
            let folder = try scene.desktop.folder.folder("journal")
            let journal = try NotifySocket(at: folder + "/socket")
            try await scene.restart(through: Self.script(folder))
            #expect(await journal.message { $0.contains("MESSAGE=Serving.") } != nil)
            try await Self.login(scene)
            let token = try await Self.authc("token", in: scene).out
            #expect(!token.isEmpty)

            journal.stopReceiving()
            for _ in 1...20 { #expect(try await Self.authc("token", in: scene).out == token) }
            #expect(try await Self.authc("refresh", in: scene).status == 0)
            let before = Self.entries(journal).count
            journal.receiveAgain()
            #expect(try await until { Self.entries(journal).count >= before + 20 })

            // At its end it writes what waits.
            for _ in 1...20 { #expect(try await Self.authc("token", in: scene).status == 0) }
            let list = try JSON(parsing: Array(try await Self.authc("log", "--json", in: scene).out.utf8))
            let newest = try #require(try AuditList(list).entries.last?.number)
            #expect(try await scene.agent.child.end() == 0)
            #expect(try await until { Self.entries(journal).last == newest })
            #expect(Self.entries(journal) == Array(1...newest))

            // The next run ends although its last lines are not received.
            try await scene.startAgent(through: Self.script(folder))
            journal.stopReceiving()
            #expect(try await Self.authc("token", in: scene).status == 0)
            #expect(try await scene.agent.child.end() == 0)
            journal.end()
        }
    }

    @Test("in a pipe delays neither callers nor the agent's end")
    func pipe() async throws {
        try await Scene.play { scene in
            let path = scene.desktop.folder.path + "/errors"
            #expect(mkfifo(path, 0o600) == 0)
            // The agent opens it again, so it has another file description, which blocks.
            let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            try #require(pipe >= 0)
            defer { close(pipe) }
            func fill() { while write(pipe, "\n", 1) > 0 {} }
            func read() -> String {
                var (text, bytes) = ("", [UInt8](repeating: 0, count: 4096))
                while true {
                    let count = Foundation.read(pipe, &bytes, bytes.count)
                    guard count > 0 else { return text }
                    text += String(decoding: bytes[..<count], as: UTF8.self)
                }
            }
            fill()
            try await scene.restart(through: ["sh", "-c", "exec \"$@\" 2>\"$0\"", path])
            try await Self.login(scene)
            #expect(try await Self.authc("token", in: scene).status == 0)
            var log = ""
            #expect(
                try await until {
                    log += read()
                    return log.contains("Audit: token.get")
                })
            #expect(log.contains("Serving."))
            fill()
            #expect(try await Self.authc("token", in: scene).status == 0)
            #expect(try await scene.agent.child.end() == 0)
        }
    }
}
