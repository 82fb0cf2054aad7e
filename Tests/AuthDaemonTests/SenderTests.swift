import AuthWire
import Foundation
import TestSupport
import Testing

/// Clients that try to use another process's connection.
@Suite("The sender of each message", .timeLimit(.minutes(1)))
struct SenderTests {
    /// Has a program connect to the agent in this process.
    /// - Returns: the responses that it got.
    static func responses(_ attempt: String, _ arguments: String..., through: [String] = []) async throws -> [JSON] {
        let program = HostileClient.command(attempt, arguments)
        let done = try await Child(through + program, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]).output()
        guard done.status == 0 else { throw Failure("\(attempt): \(done.err)") }
        return try done.out.split(separator: "\n").map { line in
            guard line.hasPrefix("{") else { return .string(String(line)) }
            return try JSON(parsing: Array(line.utf8))
        }
    }

    private static func isChanged(_ answer: JSON) -> Bool {
        answer.errorKind == "denied" && answer["error"]?["data"]?["cause"] == "sender_changed"
    }

    @Test(
        "a program that writes to its own connection gets a token, even if it cannot be traced",
        arguments: PeerRecognition.allCases)
    func honest(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            for attempt in ["token", "not-dumpable"] {
                let answer = try await Self.responses(attempt, rig.path)[0]
                #expect(answer["result"]?["access_token"] == .string(TestServer.token), "\(attempt): \(answer.text())")
            }
        }
    }

    @Test(
        "a child that inherits a connection gets nothing, with its first bytes and with later ones",
        arguments: PeerRecognition.allCases)
    func fork(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("fork", rig.path)
            try #require(answers.count == 5, "\(answers)")
            for index in [0, 2, 4] { #expect(Self.isChanged(answers[index]), "\(answers[index].text())") }
            #expect(answers[1]["result"] != nil && answers[3]["result"] != nil)
        }
    }

    @Test("a program that a child becomes gets nothing", arguments: PeerRecognition.allCases)
    func execution(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("exec", rig.path)
            #expect(answers[0]["result"] != nil)
            #expect(Self.isChanged(answers[1]), "\(answers[1].text())")
        }
    }

    @Test("a process that is passed a connection gets nothing", arguments: PeerRecognition.allCases)
    func passed(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("passed", rig.path)
            #expect(answers[0]["result"] != nil)
            // The end of the process that has connected may be noticed first.
            #expect(Self.isChanged(answers[1]) || answers[1] == "closed", "\(answers[1].text())")
        }
    }

    @Test(
        "when the process that has connected ends, its requests are answered, and the connection ends",
        arguments: PeerRecognition.watching)
    func left(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("left", rig.path)
            #expect(answers.contains { $0["id"] == 1 && $0["result"] != nil }, "\(answers)")
            #expect(answers.last == "closed")
        }
    }

    @Test("a client whose real user is not its effective one gets a token")
    func otherUser() async throws {
        try await TestServer.run { rig in
            let answer = try await Self.responses("other-user", rig.path)[0]
            #expect(answer["result"]?["access_token"] == .string(TestServer.token), "\(answer.text())")
        }
    }

    @Test("a line that two processes have written gets no response but the error", arguments: PeerRecognition.allCases)
    func mixed(recognition: PeerRecognition) async throws {
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("mixed", rig.path)
            #expect(answers.count == 1 && Self.isChanged(answers[0]), "\(answers)")
        }
    }

    @Test("descriptors that a client sends never become the agent's, and its requests are answered")
    func descriptors() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("", to: "sent")
        try await TestServer.run { rig in
            let answers = try await Self.responses("rights", rig.path, file)
            #expect(answers.count { $0["result"] != nil } == 3, "\(answers)")
            // Since Linux 6.16 none reaches the agent at all.
            #expect(answers.count { $0 == "refused" } == (answers[0] == "can refuse" ? 3 : 0), "\(answers)")
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            }
            #expect(!open.isEmpty && !open.contains { $0.hasSuffix("/sent") })
        }
    }

    @Test("the audit log has the program that has connected", arguments: PeerRecognition.allCases)
    func program(recognition: PeerRecognition) async throws {
        let program = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        try await TestServer.run(recognition: recognition) { rig in
            let answers = try await Self.responses("token", rig.path)
            #expect(answers[0]["result"] != nil, "\(answers)")
            let entries = try await onThread { try AuditLogTests.list(rig) }
            #expect(entries.map(\.exe) == [program])
            #expect(entries.allSatisfy { $0.startedAt != nil })
        }
    }

    @Test("a process that has the number of the one that had connected gets nothing", arguments: ["this", "older"])
    func reusedNumber(kernel: String) async throws {
        let folder = try TemporaryFolder()
        let answers = try await Self.responses(
            "reuse", folder.path + "/authd/socket", Programs.authd, kernel,
            through: [
                "env", "HOME=\(folder.path)", "unshare", "--map-root-user", "--pid", "--fork", "--kill-child",
                "--mount-proc",
            ])
        try #require(answers.count == 3, "\(answers)")
        #expect(answers[0]["result"] != nil)
        #expect(answers[1] == "the same number")
        #expect(Self.isChanged(answers[2]) || answers[2] == "closed", "\(answers[2].text())")
    }
}
