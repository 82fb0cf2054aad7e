import AuthWire
import Foundation
import Testing

/// Each problem that `doctor` reports has the command that fixes it, or that shows what to fix.
@Suite("What doctor advises", .timeLimit(.minutes(5)))
struct DoctorAdviceTests {
    /// What no command can do.
    static let withoutCommand = ["answer its dialog on the desktop; authd continues by itself"]

    private static let known: Set = [
        "authd", "busctl", "curl", "df", "etcdctl", "export", "ip", "journalctl", "kill", "nmcli", "systemctl",
        "timedatectl", "unset", "xdg-open", "chmod",
    ]

    /// What the agent says: everything is well, but what a case changes.
    struct Case: Sendable {
        var info: JSONObject = [:]
        var replies: [String: Result<JSON, AgentError>] = [:]
        var arguments: [String] = []
    }

    private static func store(_ members: JSONObject) -> Case { Case(info: ["store": .object(members)]) }

    static var stores: [Case] {
        StoreKind.allCases.flatMap { kind in
            StoreState.allCases.flatMap { state -> [Case] in
                let members: JSONObject = ["kind": .string(kind.rawValue), "state": .string(state.rawValue)]
                var refused = members
                refused["message"] = .string(SystemError.text(EACCES))
                var confined = store(refused)
                confined.info["landlock"] = "on"
                return [store(members), store(refused)] + (kind == .sealedFile ? [confined] : [])
            }
        }
    }

    static var clusters: [Case] {
        [
            "unreachable", "no_quorum", "no_space", "denied", "token_expired", "compacted", "watch_lost", "lagging",
            "went_back", "not_admitted", "other", "record_too_large", "contended", "held_elsewhere", "lease_lost",
            "removed", "record_damaged",
        ].map { store(["kind": "etcd", "state": "failed", "cause": .string("cluster_" + $0), "message": "No."]) }
    }

    static var members: [Case] {
        let host: JSON = ["id": "00112233445566778899aabbccddeeff", "name": "here", "this": true]
        let away: JSON = [
            "id": "11112233445566778899aabbccddeeff", "name": "old", "this": false, "connected": false, "seen_at": 1,
        ]
        return EtcdMemberState.allCases.map { state in
            let member: JSON = [
                "endpoint": "https://etcd.example.org:2379", "state": .string(state.rawValue), "behind": 100_000,
                "alarms": ["NOSPACE", "CORRUPT"],
            ]
            var found = store(["kind": "etcd", "state": "ready"])
            found.replies["cluster.status"] = .success([
                "hosts": [host, away], "renewals": [], "etcd": [member, member], "voters": 3, "revision": 9,
                "processed_revision": 1, "unprocessed": 8, "rekeying": true,
            ])
            return found
        }
    }

    private static let provider: JSON = [
        "name": "far", "title": "Far", "methods": [], "renewal": "refresh", "endpoints": [],
        "environments": [["name": "a", "url": "https://far.example/x?a=1&b=2", "default": true]], "source": "bundled",
    ]

    private static func network(_ state: NetworkState, _ providers: JSON = [:], isKnown: Bool = false) -> Case {
        var found = Case()
        found.replies["network.status"] = .success([
            "state": .string(state.rawValue), "since": 1, "providers": providers, "clock_skew_ms": ["far": 120_000],
        ])
        if isKnown { found.replies["provider.show"] = .success(provider) }
        return found
    }

    static var networks: [Case] {
        NetworkState.allCases.map { network($0, ["far": "timeout"]) }
            + ErrorKind.allCases.map { network(.online, ["far": .string($0.rawValue)], isKnown: true) }
    }

    static var sessions: [Case] {
        SessionState.allCases.flatMap { state in
            [StoreKind.secretService, .sealedFile].flatMap { kind in
                [["unsaved": true], ["last_error": "No."], ["message": "No.", "cause": "offline"], [:]].map {
                    (changes: [String: JSON]) in
                    var found = Case()
                    let status = Samples.status(
                        changes.merging(["state": .string(state.rawValue), "store": .string(kind.rawValue)]) { $1 })
                    found.replies["session.list"] = .success(["sessions": [status]])
                    return found
                }
            }
        }
    }

    static var agents: [Case] {
        let landlock = LandlockState.allCases.map {
            Case(info: ["landlock": .string($0.rawValue), "landlock_notes": ["authd can read all of /opt/ada"]])
        }
        let versions = [
            Case(info: ["version": "0.0.1"]), Case(info: ["protocol": 1]), Case(info: ["restart_pending": true]),
            Case(info: ["version": "0.0.1", "restart_pending": true]),
            Case(info: ["restart_pending": true, "restart": ["command": "authd", "obstacle": "no_manager"]]),
            Case(info: ["lock": ["locked": true, "since": 1, "why": "command", "passphrase_set": true]]),
        ]
        let methods = ["agent.info", "agent.reload", "network.status", "session.list", "policy.show"]
        let errors = ErrorKind.allCases.enumerated().flatMap { index, kind in
            // Each method with some kinds, and each kind with two methods.
            [methods[index % methods.count], methods[(index + 1) % methods.count]].map { method in
                Case(replies: [method: .failure(AgentError(kind, "It did not work.", details: ["a.toml:1: no"]))])
            }
        }
        let rules = Case(replies: [
            "policy.show": .success([
                "enforced": true, "rules": [], "unapplied": true, "problems": ["policy.toml:3: effect: expected allow"],
            ])
        ])
        let sockets = [["--socket", "relative"], ["--socket", "/nowhere/socket"]].map { Case(arguments: $0) }
        return landlock + versions + errors + [rules] + sockets
    }

    /// The problems and warnings of a case.
    private static func findings(_ found: Case) async throws -> [JSON] {
        var info: JSONObject = [
            "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 4711,
            "started_at": 1, "store": ["kind": "secret-service", "state": "ready"],
        ]
        for (key, value) in found.info { info[key] = value }
        let replies: [String: Result<JSON, AgentError>] = [
            "agent.info": .success(.object(info)),
            "agent.reload": .success(["message": .string(ReloadResult.unchanged)]),
            "network.status": .success(["state": "online", "since": 1, "providers": [:]]),
            "session.list": .success(["sessions": []]),
        ]
        let agent = try TestAgent(replies: replies.merging(found.replies) { $1 })
        defer { agent.stop() }
        let result = try await Program.run(["doctor", "--json"] + found.arguments, folder: agent.folder)
        let checks = try #require(try JSON(parsing: result.output)["checks"]?.arrayValue, "\(result)")
        return checks.filter { $0["level"] == "problem" || $0["level"] == "warning" }
    }

    private static func commands(in hint: String) -> [[String]] {
        hint.matches(of: /`([^`]+)`/).map { $0.1.split(separator: " ").map(String.init) }
    }

    @Test("each problem and warning has a command, which authc accepts if it is its own")
    func everyFinding() async throws {
        var (count, unused, checked) = (0, Set(Self.withoutCommand), Set<[String]>())
        let cases = Self.stores + Self.clusters + Self.members + Self.networks + Self.sessions + Self.agents
        for found in cases {
            for finding in try await Self.findings(found) {
                count += 1
                let hint = finding["hint"]?.stringValue ?? ""
                let commands = Self.commands(in: hint)
                if commands.isEmpty {
                    #expect(Self.withoutCommand.contains(hint), "\(finding)")
                    unused.remove(hint)
                }
                for words in commands where words[0] != "authc" {
                    #expect(Self.known.contains(words[0]), "\(finding)")
                }
                checked.formUnion(commands.filter { $0[0] == "authc" })
            }
        }
        #expect(count > 150 && unused.isEmpty, "\(count), \(unused)")
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for words in checked.sorted(by: { $0.joined() < $1.joined() }) {
            #expect(try await AdviceTests.refusal(Array(words.dropFirst()), in: folder) == nil, "\(words)")
        }
    }

    @Test("a command is the one for what was found")
    func commands() async throws {
        let locked = Self.store(["kind": "secret-service", "state": "locked"])
        var hung = Self.store(["kind": "secret-service", "state": "not_answering"])
        let unknown = hung
        hung.info["store"] = ["kind": "secret-service", "state": "not_answering", "process": ["pid": 4711]]
        let sealed = Self.store(["kind": "sealed-file", "state": "failed", "message": "No."])
        for (found, command) in [
            (locked, "`authc store unlock`"), (hung, "`kill 4711` ends it, and `authc store unlock`"),
            (unknown, "`busctl --user status org.freedesktop.secrets`"), (sealed, "`df -h /"),
            (Self.network(.online, ["far": "timeout"]), "`authc provider show far`"),
            (Self.network(.online, ["far": "timeout"], isKnown: true), "`curl -I 'https://far.example/x?a=1&b=2'`"),
            (Self.network(.offline), "`nmcli device status`"), (Self.network(.portal), "`xdg-open http://example.com`"),
        ] {
            let hints = try await Self.findings(found).compactMap { $0["hint"]?.stringValue }
            #expect(hints.contains { $0.contains(command) }, "\(command): \(hints)")
        }
    }
}
