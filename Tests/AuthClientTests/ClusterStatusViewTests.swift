import AuthWire
import Foundation
import TestSupport
import Testing

/// In files and pipes: Transcripts/cluster.txt.
@Suite("authc cluster status on a terminal", .timeLimit(.minutes(2)))
struct ClusterStatusViewTests {
    private static let wide = """
        HOST                AUTHD  STATE              ID
        laptop (this host)  0.1.0  connected          1f0c6f0a6f5f4c1e9f5d1b7c2a3e4d50
        login-1             0.1.0  connected          8a41d3b09c7e42f6b1e05d9a7c3f2e68
        runner-7            0.1.0  last seen 3 h ago  c25e9b7f10d84a3c8e6f4b2a9d1c7053
        old                 -      no report          00112233445566778899aabbccddeeff

        ETCD                             STATE          VERSION  BEHIND  SIZE
        https://etcd-1.example.org:2379  leader         3.5.17   0       2.1 MiB
        https://etcd-3.example.org:2379  not answering  -        -       -

        RENEWAL  HOST
        work     login-1
        """

    private static let narrow = """
        HOST            AUTHD  STATE
        laptop … host)  0.1.0  connected
        login-1         0.1.0  connected
        runner-7        0.1.0  last seen 3 h ago
        old             -      no report

        ETCD                       STATE
        https://etcd…ple.org:2379  leader
        https://etcd…ple.org:2379  not answering

        RENEWAL  HOST
        work     login-1
        """

    private static func status() -> JSON {
        let now = Date().timeIntervalSince1970
        func host(_ id: String, _ name: String, _ more: JSONObject) -> JSON {
            var host: JSONObject = ["id": .string(id), "name": .string(name), "this": false]
            for (key, value) in more { host[key] = value }
            return .object(host)
        }
        return [
            "hosts": [
                host(
                    "1f0c6f0a6f5f4c1e9f5d1b7c2a3e4d50", "laptop", ["this": true, "version": "0.1.0", "connected": true]),
                host("8a41d3b09c7e42f6b1e05d9a7c3f2e68", "login-1", ["version": "0.1.0", "connected": true]),
                host(
                    "c25e9b7f10d84a3c8e6f4b2a9d1c7053", "runner-7",
                    ["version": "0.1.0", "connected": false, "seen_at": .number(now - 3 * 3600 - 1200)]),
                host("00112233445566778899aabbccddeeff", "old", ["connected": false]),
            ],
            "renewals": [["session": "work", "host": "8a41d3b09c7e42f6b1e05d9a7c3f2e68"]],
            "etcd": [
                [
                    "endpoint": "https://etcd-1.example.org:2379", "state": "ready", "version": "3.5.17",
                    "leader": true, "behind": 0, "db_bytes": 2_228_224,
                ],
                ["endpoint": "https://etcd-3.example.org:2379", "state": "not_answering"],
            ], "voters": 2, "revision": 9, "processed_revision": 9, "unprocessed": 0,
        ]
    }

    @Test("is a table for each kind, which fits 80 columns, and 40", arguments: [80, 40])
    func tables(columns: Int) async throws {
        let agent = try TestAgent(replies: ["cluster.status": .success(Self.status())])
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc cluster status; echo end", folder: agent.folder, columns: UInt16(columns),
            environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "end\r\n")
        let lines = terminal.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        #expect(lines.allSatisfy { $0.count <= columns })
        let text = lines.joined(separator: "\n")
        #expect(text == (columns == 80 ? Self.wide : Self.narrow) + "\nend\n", "\(text)")
        await terminal.ends()
    }

    @Test("shows what is known and why it is no more, with exit status 4")
    func partial() async throws {
        let agent = try TestAgent(replies: [
            "cluster.status": .success([
                "hosts": [["id": "00112233445566778899aabbccddeeff", "name": "laptop", "this": true]],
                "etcd": [["endpoint": "http://one", "state": "no_leader"]], "cause": "cluster_no_quorum",
                "message": "etcd has no leader.",
            ])
        ])
        defer { agent.stop() }
        let terminal = try await Terminal("authc cluster status; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("unknown") && terminal.text.contains("no leader"), "\(terminal.text)")
        #expect(terminal.text.contains("etcd has no leader.") && terminal.text.contains("exit 4"), "\(terminal.text)")
        await terminal.ends()
    }

    @Test("names the command that ends a change of the record key, for the agent that was asked")
    func rekeying() async throws {
        let agent = try TestAgent(replies: ["cluster.status": .success(["hosts": [], "etcd": [], "rekeying": true])])
        defer { agent.stop() }
        for option in ["", " --socket \(ShellWord.quoted(agent.path))"] {
            let terminal = try await Terminal(
                "authc cluster status\(option); echo end", folder: agent.folder, columns: 300)
            await terminal.waits(for: "end\r\n")
            #expect(terminal.text.contains("now: `authc\(option) store rekey`"), "\(terminal.text)")
            await terminal.ends()
        }
    }

    @Test("a move that ends sessions on other hosts asks; without a terminal it needs --yes")
    func migrate() async throws {
        let refusal = AgentError(
            .conflict, "This ends the sessions on the other hosts that share them: login-1.",
            cause: StoreMigrate.otherHostsCause)
        let agent = try TestAgent { peer, request in
            switch request.method {
            case "store.migrate" where request.params?["ends_elsewhere"]?.boolValue == true:
                peer.send(RPCReply.result(request.id ?? .null, ["message": "Moved."]))
            case "store.migrate": peer.send(RPCReply.failure(request.id ?? .null, refusal))
            default: peer.send(RPCReply.failure(request.id ?? .null, .methodNotFound(request.method)))
            }
        }
        defer { agent.stop() }
        for (answer, status) in [("", 77), ("y", 0)] {
            let terminal = try await Terminal(
                "authc store migrate --to sealed-file; echo \"exit $?\"", folder: agent.folder)
            await terminal.waits(for: "Move the sessions, and end them there? [y/N] ")
            #expect(terminal.text.contains("login-1"))
            terminal.type(answer + "\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit \(status)"), "\(terminal.text)")
            await terminal.ends()
        }
        let refused = try await Terminal(
            "authc store migrate --to sealed-file </dev/null; echo \"exit $?\"", folder: agent.folder)
        await refused.waits(for: "exit ")
        #expect(refused.text.contains("exit 64") && refused.text.contains("use --yes"), "\(refused.text)")
        await refused.ends()
        let agreed = try await Terminal(
            "authc store migrate --to sealed-file --yes </dev/null; echo \"exit $?\"", folder: agent.folder)
        await agreed.waits(for: "exit ")
        #expect(agreed.text.contains("exit 0"), "\(agreed.text)")
        await agreed.ends()
    }
}
