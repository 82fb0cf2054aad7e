import AuthWire
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("authc agent restart", .timeLimit(.minutes(1)))
struct AuthcAgentRestartTests {
    private static func info(pid: Int64) -> JSON {
        [
            "version": "7.0.0", "protocol": .integer(Int64(Release.protocolNumber)), "pid": .integer(pid),
            "started_at": 1, "store": ["kind": "secret-service", "state": "ready"],
        ]
    }

    @Test("waits until another agent answers, and prints its version", arguments: [[], ["--json"]])
    func waits(options: [String]) async throws {
        // The second one is not there at once.
        let answers = Mutex<[Int64]>([7, 8])
        let agent = try TestAgent { peer, request in
            switch request.method {
            case "agent.restart":
                peer.reply(request, ["pid": 7])
                peer.end()
            case "agent.info":
                let pid = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
                peer.reply(request, Self.info(pid: pid))
            default: peer.end()
            }
        }
        defer { agent.stop() }
        let result = try await Program.run(["agent", "restart"] + options, folder: agent.folder)
        #expect(result.status == 0, "\(result.errors)")
        if options.isEmpty {
            #expect(result.output == "authd 7.0.0, protocol \(Release.protocolNumber), process 8\n")
        } else {
            #expect(try JSON(parsing: Array(result.output.utf8)) == Self.info(pid: 8))
        }
        #expect(agent.requests.map(\.method) == ["agent.restart", "agent.info", "agent.info"])
    }

    @Test("an agent that is about to end, as after an upgrade, is waited for", arguments: [true, false])
    func endsAlready(says: Bool) async throws {
        let agent = try TestAgent { peer, request in
            switch request.method {
            case "agent.restart":
                if says { peer.fail(request, AgentError(.busy, "The agent is stopping.", cause: "stopping")) }
                peer.end()
            default: peer.reply(request, Self.info(pid: 8))
            }
        }
        defer { agent.stop() }
        let result = try await Program.run(["agent", "restart"], folder: agent.folder)
        #expect(result.status == 0 && result.output.hasSuffix("process 8\n"), "\(result)")
    }

    @Test("an agent that does not end in time is a timeout")
    func late() async throws {
        let agent = try TestAgent(replies: ["agent.restart": .success(["pid": 7])])
        defer { agent.stop() }
        let result = try await Program.run(["agent", "restart", "--timeout", "1s"], folder: agent.folder)
        #expect(result.status == 75 && result.errors.contains("within 1 s"), "\(result)")
    }

    @Test("a refusal is shown, with the exit status of its kind")
    func refusals() async throws {
        for (kind, status) in [(ErrorKind.unsupported, 64), (.validation, 65), (.conflict, 65), (.internal_, 70)] {
            let agent = try TestAgent(replies: ["agent.restart": .failure(AgentError(kind, "It is not possible."))])
            defer { agent.stop() }
            let result = try await Program.run(["agent", "restart"], folder: agent.folder)
            #expect(result.status == status && result.errors.contains("It is not possible."), "\(result)")
        }
    }

    @Test("an agent of a version that does not know the method is restarted with systemctl")
    func older() async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(["agent", "restart"], folder: agent.folder)
        #expect(result.status == 64 && result.errors.contains("`systemctl --user restart authd`"), "\(result)")
    }
}
