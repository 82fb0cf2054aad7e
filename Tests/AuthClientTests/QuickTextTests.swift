import AuthWire
import Foundation
import Synchronization
import Testing

@Suite("Texts of authc without the full program", .timeLimit(.minutes(5)))
struct QuickTextTests {
    private static let online: JSON = ["state": "online", "since": 1_700_000_000, "providers": [:]]

    private func agent(_ status: JSON, _ network: JSON = online) throws -> TestAgent {
        try TestAgent(replies: [
            "session.status": .success(status), "session.wait": .success(status), "network.status": .success(network),
        ])
    }

    // MARK: - A session

    /// What an active session without a warning can have.
    private static let cards: [[String: JSON]] = [
        [:], ["default": false], ["environment": .null], ["user": .null], ["user": [:]], ["user": ["name": "Ada"]],
        ["user": ["id": "7"]], ["user": ["email": "", "name": "Ada"]], ["provider": "https://id.example/x"],
        ["renews": false], ["renews": false, "expires_at": 4_000_000_000], ["expires_at": 4_000_000_000],
        ["expires_at": 4_000_000_000, "issued_at": 1_700_000_000, "refresh_at": 3_900_000_000],
        ["expires_at": 4_000_000_000.5, "issued_at": 1_700_000_000.25, "refresh_at": 3_900_000_000.75],
        ["expires_at": 4_000_000_000, "signed_in_at": 1_700_000_000, "refresh_at": 1_700_000_000],
        ["expires_at": 4_000_000_000, "issued_at": 4_000_000_001], ["refresh_at": 4_000_000_000],
        ["expires_at": 4_000_000_000, "issued_at": 0], ["expires_at": 4_000_000_000, "issued_at": -1e9],
        ["remembered": true], ["remembered": true, "default": false], ["shared_session": "work"],
        ["store": "secret-service"], ["store": "sealed-file"], ["store": "etcd"], ["store": "memory"],
        ["scopes": []], ["scopes": ["read"]], ["scopes": ["read", "write", "https://api.example/a.b"]],
        // The end is far, or the session is too short for a warning.
        ["ends_at": 4_000_000_000, "issued_at": 1_700_000_000], ["ends_at": 4_000_000_000],
        ["ends_at": 4_000_000_000, "issued_at": 1_700_000_000, "end_is_fixed": true],
        ["ends_at": 1_700_000_000, "issued_at": 1_600_000_000],
        [
            "remembered": true, "shared_session": "work", "store": "etcd", "scopes": ["a", "b"], "renews": false,
            "expires_at": 4_000_000_000, "issued_at": 3_999_999_000, "needs_password": false, "unsaved": false,
        ],
    ]

    @Test("the card of an active session", arguments: cards)
    func card(changes: [String: JSON]) async throws {
        let agent = try agent(Samples.status(changes))
        defer { agent.stop() }
        for environment in [[:], ["LC_ALL": "C"], ["LC_ALL": "", "LC_CTYPE": "de_DE.utf8"], ["TZ": "IST-5:30"]] {
            for command in ["status", "wait"] {
                try await QuickAuthc.expectSame(nil, of: [command], agent.folder, environment, "\(changes)")
            }
        }
    }

    @Test(
        "the whole life of a token in its units",
        arguments: [0.5, 1, 45, 59.5, 60, 61, 120, 599, 600, 3599, 3600, 3661, 7200, 86_399, 86_400, 90_000, 1e6, 2e9])
    func units(seconds: Double) async throws {
        let agent = try agent(
            Samples.status(["expires_at": 4_000_000_000, "issued_at": .number(4_000_000_000 - seconds)]))
        defer { agent.stop() }
        try await QuickAuthc.expectSame(nil, of: ["status"], agent.folder)
    }

    @Test("the bar, from full to almost empty", arguments: [0.001, 0.02, 0.1, 0.25, 0.26, 0.5, 0.77, 0.98, 1])
    func bar(share: Double) async throws {
        // So long that it does not change between the two programs.
        let (now, length) = (Date().timeIntervalSince1970.rounded(), 4e9)
        let agent = try agent(
            Samples.status([
                "expires_at": .number(now + length * share), "issued_at": .number(now - length * (1 - share)),
            ]))
        defer { agent.stop() }
        for environment in [[:], ["LC_ALL": "C"]] {
            try await QuickAuthc.expectSame(nil, of: ["status"], agent.folder, environment)
        }
    }

    @Test(
        "any other session is left to the full program",
        arguments: [
            ["state": "stale"], ["state": "signed_out"], ["state": "signing_in"], ["state": "keyring_locked"],
            ["state": "sign_in_required"], ["cause": "scope_reduced"], ["message": "no mail"], ["last_error": "no"],
            ["needs_password": true], ["unsaved": true], ["clock_skew_ms": 61_000], ["locked_since": 1_700_000_000],
            ["expires_at": 1_700_000_000], ["provider": ""], ["user": ["email": "a\"b"]], ["user": ["email": "\u{7}"]],
            ["user": ["name": "Zoë"]], ["scopes": ["a\nb"]], ["refresh_at": 4e12],
        ] as [[String: JSON]])
    func otherCards(changes: [String: JSON]) async throws {
        let agent = try agent(Samples.status(changes))
        defer { agent.stop() }
        try await QuickAuthc.expectLeft(["status"], agent.folder)
        try await QuickAuthc.expectLeft(["wait"], agent.folder)
    }

    @Test("a session that ends soon is left to the full program")
    func ending() async throws {
        let now = Date().timeIntervalSince1970.rounded()
        for (end, fixed) in [(3600, true), (86_000, false), (600_000, false)] as [(Double, Bool)] {
            let agent = try agent(
                Samples.status([
                    "ends_at": .number(now + end), "end_is_fixed": .bool(fixed), "issued_at": .number(now - 2e6),
                    "signed_in_at": .number(now - 3e6),
                ]))
            defer { agent.stop() }
            try await QuickAuthc.expectLeft(["status"], agent.folder)
        }
    }

    @Test("status is left to the full program if something waits for another network, or the network is not known")
    func waiting() async throws {
        let waiting: JSON = ["state": "online", "since": 1, "metered": true, "transfers_wait": true]
        for network in [.success(waiting), .failure(AgentError(.denied, "no"))] as [Result<JSON, AgentError>] {
            let agent = try TestAgent(replies: [
                "session.status": .success(Samples.status()), "network.status": network,
            ])
            defer { agent.stop() }
            try await QuickAuthc.expectLeft(["status"], agent.folder)
        }
    }

    @Test("the answers may come in any order")
    func order() async throws {
        let asked = Mutex(0)
        let agent = try TestAgent { peer, request in
            guard request.method == "network.status" else {
                // The first one is answered last. If that takes too long, it is run again.
                let number = asked.withLock { count in
                    count += 1
                    return count
                }
                if number > 1 { peer.reply(request, Samples.status()) }
                return
            }
            peer.reply(request, Self.online)
            if asked.withLock({ $0 }) == 1 { peer.send(RPCReply.result(.integer(1), Samples.status())) }
        }
        defer { agent.stop() }
        let result = try await QuickAuthc.runAlone(["status"], agent.folder)
        #expect(result.output.hasPrefix("ada@example.org at app-template (production)\n") && result.status == 0)
    }

    // MARK: - Sessions, the user and the network

    private static let lists: [[JSON]] = [
        [Samples.status()],
        [Samples.status(["environment": .null, "user": .null, "default": false, "state": "signed_out"])],
        [
            Samples.status(["expires_at": 4_000_000_000.75]),
            Samples.status(["session": "a-session-of-a-long-name", "state": "keyring_locked", "default": false]),
            Samples.status(["session": "x", "state": "sign_in_required", "cause": "origin_changed", "default": false]),
            Samples.status(["session": "y", "state": "stale", "cause": "stale", "expires_at": 0, "default": false]),
            Samples.status(["session": "z", "locked_since": 1, "unsaved": true, "expires_at": 5e9, "default": false]),
            Samples.status(["session": "w", "user": ["name": "Ada  Lovelace"], "expires_at": 1_700_000_000]),
        ],
    ]

    @Test("the list for programs", arguments: lists)
    func list(sessions: [JSON]) async throws {
        let agent = try TestAgent(replies: ["session.list": .success(["sessions": .array(sessions)])])
        defer { agent.stop() }
        try await QuickAuthc.expectSame(nil, of: ["list"], agent.folder, ["TZ": "IST-5:30"])
    }

    @Test(
        "an empty list, one with other characters, and one of a locked store are left to the full program",
        arguments: [
            [], [Samples.status(["cause": "a\"b"])], [Samples.status(["user": ["email": "ü"]])],
            [Samples.status(["state": "keyring_locked", "message": "The sessions are sealed."])],
        ] as [[JSON]])
    func otherLists(sessions: [JSON]) async throws {
        let agent = try TestAgent(replies: ["session.list": .success(["sessions": .array(sessions)])])
        defer { agent.stop() }
        // A cause is not in the list for programs.
        guard sessions.first?["cause"] == nil else {
            return try await QuickAuthc.expectSame(nil, of: ["list"], agent.folder)
        }
        try await QuickAuthc.expectLeft(["list"], agent.folder)
    }

    @Test(
        "the user",
        arguments: [
            (["email": "ada@example.org", "name": "Ada"], "ada@example.org"), (["name": "Ada", "id": "7"], "Ada"),
            (["id": "7", "verified": true], "7"), (["email": ""], ""),
        ] as [(JSON, String)])
    func user(user: JSON, shown: String) async throws {
        let agent = try TestAgent(replies: ["user.get": .success(["user": user, "raw": .null, "age_ms": 3_599_999])])
        defer { agent.stop() }
        try await QuickAuthc.expectSame(shown + "\n", of: ["whoami"], agent.folder)
        try await QuickAuthc.expectSame(shown + "\n", of: ["whoami", "-s", "shop"], agent.folder)
    }

    @Test(
        "an unknown user, an old answer and other characters are left to the full program",
        arguments: [
            ["user": [:]], ["user": ["id": "7"], "age_ms": 3_600_000], ["user": ["email": "a\\b"]],
            ["user": ["name": "Zoë"]],
        ] as [JSON])
    func otherUsers(answer: JSON) async throws {
        let agent = try TestAgent(replies: ["user.get": .success(answer)])
        defer { agent.stop() }
        try await QuickAuthc.expectLeft(["whoami"], agent.folder)
    }

    @Test(
        "the network",
        arguments: [
            online, ["state": "offline", "since": 0.5], ["state": "portal", "since": .integer(.now), "providers": [:]],
            ["state": "limited", "since": 4_000_000_000, "providers": ["a": "reachable", "https://b": "bad_reply"]],
            ["state": "online", "since": 1, "metered": true, "providers": ["a": "offline"]],
            ["state": "online", "since": 1, "metered": true, "transfers_wait": true],
            ["state": "online", "since": 1, "transfers_wait": true],
        ] as [JSON])
    func network(network: JSON) async throws {
        let agent = try TestAgent(replies: ["network.status": .success(network)])
        defer { agent.stop() }
        for environment in [[:], ["TZ": "IST-5:30"], ["TZ": "HST10"]] {
            try await QuickAuthc.expectSame(nil, of: ["network"], agent.folder, environment)
        }
    }

    @Test(
        "providers in another order or with other characters are left to the full program",
        arguments: [["b": "reachable", "a": "reachable"], ["a": "\"no\""], ["a\\": "no"], ["é": "no"]] as [JSON])
    func otherNetworks(providers: JSON) async throws {
        let agent = try TestAgent(replies: [
            "network.status": .success(["state": "online", "since": 1, "providers": providers])
        ])
        defer { agent.stop() }
        try await QuickAuthc.expectLeft(["network"], agent.folder)
    }
}

extension Int64 {
    fileprivate static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}
