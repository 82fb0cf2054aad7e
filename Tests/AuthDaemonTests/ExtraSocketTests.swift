import AuthAgent
import AuthConcurrency
import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

/// Clients of the extra socket, which try to get what its rules do not allow.
@Suite("The extra socket", .timeLimit(.minutes(1)))
struct ExtraSocketTests {
    /// Three sessions; one is hidden.
    private static let names = ["private", "shop", "work"]

    private static func rules(
        _ sessions: [String] = ["shop", "work"], _ change: (inout ListenerRules) -> Void = { $0.classes = [.status] }
    ) throws -> ListenerRules {
        var rules = ListenerRules()
        for name in sessions { rules.sessions.insert(try SessionName(name)) }
        change(&rules)
        return rules
    }

    @Test("without rules every method but three is refused, as a request, in a batch and as a plain token request")
    func nothing() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dialExtra()
                for method in AgentMethods.all {
                    let answer = try client.ask(method.name, ["session": "shop"])
                    let isOpen = ["agent.ping", "agent.info", "rpc.discover"].contains(method.name)
                    #expect((answer["result"] != nil) == isOpen, "\(method.name): \(answer.text())")
                    if !isOpen { #expect(answer.errorKind == "denied", "\(method.name): \(answer.text())") }
                }
                // The line that is answered from memory on the main socket.
                let plain = #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}}"# + "\n"
                try client.send(plain)
                #expect(try client.json().errorKind == "denied")
                #expect(try rig.dial().ask("token.get")["result"]?["access_token"] == .string(TestServer.token))
                try client.send("[" + plain.trimmingCharacters(in: .newlines) + "]\n")
                #expect(try client.json()[0]?.errorKind == "denied")
                #expect(try client.ask("agent.fly").errorCode == -32601)
            }
        }
    }

    @Test("lists, snapshots, events and errors show only the listed sessions")
    func filtered() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules()) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                var received = ""
                func ask(_ method: String, _ params: JSON = [:]) throws -> JSON {
                    let answer = try client.ask(method, params)
                    received += answer.text()
                    return answer
                }
                let list = try ask("session.list")["result"]?["sessions"]?.arrayValue?.map { $0["session"] }
                #expect(list == ["shop", "work"])
                #expect(try ask("provider.show", ["provider": "other"]).errorKind == "unknown_provider")
                _ = try ask("provider.list")
                _ = try ask("network.status")
                _ = try ask("agent.info")
                // None of two is the default, whichever is the default one outside.
                let none = try ask("session.status")
                #expect(none["error"]?["data"]?["cause"] == "no_default", "\(none.text())")
                #expect(none["error"]?["data"]?["details"] == ["shop at shop", "work at work"])
                _ = try ask("events.subscribe")
                let snapshot = try client.json()
                received += snapshot.text()
                #expect(snapshot["params"]?["snapshot"]?["sessions"]?.arrayValue?.count == 2)
                for topic in Topic.allCases {
                    rig.publisher.publish(
                        AgentEvent(topic: topic, name: "hidden", at: 1, session: try SessionName("private")))
                }
                rig.publisher.publish(
                    AgentEvent(topic: .session, name: "mine", at: 1, session: try SessionName("work")))
                // The hidden network and store events have no session, and are sent without what they say of others.
                var names: [String?] = []
                repeat {
                    let event = try client.json()
                    names.append(event["params"]?["event"]?.stringValue)
                    if event["params"]?["topic"] == "session" { received += event.text() }
                } while names.last != "mine"
                #expect(names == ["hidden", "hidden", "mine"])
                #expect(!received.contains("private"), "\(received)")
            }
        }
    }

    @Test("a hidden session gets the answer of one that does not exist, byte for byte, in every method")
    func noOracle() async throws {
        let rules = try Self.rules {
            $0.classes = [.status, .token, .act]
            $0.methods = ["token.get", "token.proof"]
            $0.scopes = ["read"]
        }
        try await TestServer.run(names: Self.names, rules: rules) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                for method in AgentMethods.all where !method.name.hasPrefix("events.") {
                    func answer(_ session: String) throws -> String {
                        try client.ask(
                            method.name,
                            [
                                "session": .string(session), "method": "GET", "path": "/", "endpoint": "me",
                                "url": "http://a.example/",
                                "access_token": "guess", "until": "active", "timeout_ms": 1, "scopes": ["read"],
                            ]
                        ).text().replacing(session, with: "NAME")
                    }
                    let names = method.memberList.map(\.name)
                    guard names.contains("session") else { continue }
                    #expect(try answer("private") == answer("missing"), "\(method.name)")
                }
                #expect(
                    try client.ask("events.subscribe", ["session": "private"]).errorKind == "unknown_session")
            }
        }
    }

    @Test("the default session is one of the listed ones")
    func defaultSession() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules(["work"])) { rig in
            try await onThread {
                let status = try rig.dialExtra().ask("session.status")["result"]
                #expect(status?["session"] == "work" && status?["default"] == true)
            }
        }
    }

    @Test("new rules apply to open connections, to their subscriptions, and to requests that wait")
    func reload() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules()) { rig in
            try await onThread {
                let (client, subscriber) = (try rig.dialExtra(), try rig.dialExtra())
                #expect(try client.ask("session.status", ["session": "work"])["result"] != nil)
                _ = try subscriber.ask("events.subscribe")
                _ = try subscriber.json()
                // It waits until the session is signed out.
                try client.send(
                    RawClient.request("session.wait", ["session": "work", "until": "signed_out"], id: "wait"))
                #expect(try client.ask("agent.ping")["result"] != nil)
                rig.tables.set(ListenerTables(extra: try Self.rules(["shop"])))
                let waited = try client.json()
                #expect(waited["id"] == "wait" && waited.errorKind == "unknown_session", "\(waited.text())")
                #expect(
                    try client.ask("session.status", ["session": "work"]).errorKind == "unknown_session")
                #expect(try client.ask("session.status")["result"]?["session"] == "shop")
                rig.publisher.publish(
                    AgentEvent(topic: .session, name: "hidden", at: 1, session: try SessionName("work")))
                rig.publisher.publish(
                    AgentEvent(topic: .session, name: "shown", at: 1, session: try SessionName("shop")))
                #expect(try subscriber.json()["params"]?["event"] == "shown")
                rig.tables.set(ListenerTables())
                #expect(try client.ask("session.list").errorKind == "denied")
            }
        }
    }

    @Test("without rules the agent says only its version and its protocol")
    func info() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let info = try rig.dialExtra().ask("agent.info")["result"]?.objectValue
                #expect(info.map { Set($0.keys) } == ["version", "protocol"])
            }
        }
    }

    @Test("an event that shows no change to the client is not sent")
    func unchanged() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules()) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                _ = try client.ask("events.subscribe")
                _ = try client.json()
                let work = try SessionName("work")
                func publish(_ change: (inout SessionStatus) -> Void = { _ in }) {
                    var status = rig.board.status(work)
                    if var changed = status {
                        change(&changed)
                        status = changed
                    }
                    rig.publisher.publish(
                        AgentEvent(topic: .session, name: "changed", at: 1, session: work, status: status))
                }
                publish()
                rig.board.put(network: .online, providers: ["private": "reachable"])
                rig.board.put(store: .ready, message: "The record of session private cannot be read.")
                publish { $0.isDefault = true }
                publish { $0.lastError = "new" }
                publish { $0.lastError = "new" }
                rig.board.put(network: .offline, providers: [:])
                let events = [try client.json(), try client.json()].map { $0["params"] }
                #expect(events[0]?["status"]?["last_error"] == "new", "\(events)")
                #expect(events[1]?["network"]?["state"] == "offline", "\(events)")
            }
        }
    }

    @Test("a session that shares the sign-in of a hidden one does not name it")
    func sharedSignIn() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules(["work", "linked"])) { rig in
            try await onThread {
                let linked = try SessionName("linked")
                var status = SessionStatus(session: linked, provider: "shop", state: .stale)
                status.sharedSession = try SessionName("private")
                status.message = "It uses private."
                status.lastError = "shop did not renew session private."
                status.storeError = "private is locked."
                rig.board.put(placeholder: status)
                let client = try rig.dialExtra()
                _ = try client.ask("events.subscribe")
                var received = try client.json().text()
                received += try client.ask("session.list").text()
                received += try client.ask("session.status", ["session": "linked"]).text()
                rig.publisher.publish(
                    AgentEvent(topic: .session, name: "state", at: 1, session: linked, status: status))
                received += try client.json().text()
                #expect(received.contains("linked") && !received.contains("private"), "\(received)")
            }
        }
    }

    @Test("the default session does not depend on hidden ones")
    func hiddenDefault() async throws {
        try await TestServer.run(names: Self.names, rules: Self.rules()) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                let cases: [(String, String?)] = [("private", nil), ("work", "work"), ("shop", "shop")]
                for (preferred, expected) in cases {
                    rig.board.prefer(try SessionName(preferred))
                    #expect(try client.ask("session.status")["result"]?["session"]?.stringValue == expected)
                }
            }
        }
    }

    @Test("while the store cannot be read, an empty list is an error, as on the other socket")
    func unreadStore() async throws {
        try await TestServer.run(names: ["private"], rules: Self.rules(["work"])) { rig in
            rig.board.put(store: .locked, message: "Session private is locked.")
            try await onThread {
                let list = try rig.dialExtra().ask("session.list")
                #expect(list["error"] != nil && !list.text().contains("private"), "\(list.text())")
            }
        }
    }

    @Test("its clients have separate limits for long requests, unread bytes, and the time of a request")
    func budgets() async throws {
        var limits = ConnectionLimits()
        // One process may have a quarter.
        limits.confinedLongRequests = 600_000
        limits.confinedBytes = BufferedBytes.Limits(perUser: 300_000, inAll: 300_000)
        limits.longestConfinedAnswer = .milliseconds(1)
        let rules = try Self.rules(["work"])
        try await TestServer.run(limits: limits, names: Self.names, rules: rules) { [limits] rig in
            try await onThread {
                let (client, user) = (try rig.dialExtra(), try rig.dial())
                func wait(_ id: String, pad: Int) -> String {
                    RawClient.request(
                        "session.wait",
                        [
                            "session": "work", "until": "signed_out", "timeout_ms": 3_600_000,
                            "pad": .string(String(repeating: "x", count: pad)),
                        ], id: .string(id))
                }
                // The longest time of a confined client is a millisecond here.
                try client.send(wait("late", pad: 0))
                #expect(try client.json().errorKind == "timeout")
                #expect(limits.longestAnswer > .seconds(3600))
                try client.send(wait("long", pad: 200_000))
                #expect(try client.json().errorKind == "busy")
                try user.send(wait("long", pad: 200_000))
                #expect(try user.ask("agent.ping")["result"] != nil)
                // An incomplete line.
                try client.send(String(repeating: "x", count: 400_000))
                #expect(try client.json().errorKind == "busy")
                try user.send(String(repeating: " ", count: 400_000))
                try user.send(RawClient.request("agent.ping", [:], id: "after"))
                #expect(try user.json()["id"] == "after")
            }
        }
    }

    @Test("requests of its clients that wait count separately from those of the user")
    func waitingRequests() async throws {
        var limits = ConnectionLimits()
        // One process may have a quarter of the first.
        (limits.confinedRequests, limits.requestsPerUser) = (8, 1)
        try await TestServer.run(limits: limits, names: Self.names, rules: Self.rules(["work"])) { rig in
            try await onThread {
                let (first, second, user) = (try rig.dialExtra(), try rig.dialExtra(), try rig.dial())
                let wait: JSON = ["session": "work", "until": "signed_out"]
                for client in [first, second] { try client.send(RawClient.request("session.wait", wait)) }
                try BadClientTests.until(user) { rig.counters.waiting == 2 }
                let refused = try first.ask("session.wait", wait, id: "third")
                #expect(refused.errorKind == "busy" && refused["id"] == "third", "\(refused.text())")
                try user.send(RawClient.request("session.wait", wait))
                try BadClientTests.until(user) { rig.counters.waiting == 3 }
                #expect(try user.ask("session.wait", wait, id: "second").errorKind == "busy")
            }
        }
    }

    @Test("a validation waits for a network until just before the longest time of a confined client, and says so")
    func offline() async throws {
        var limits = ConnectionLimits()
        limits.longestConfinedAnswer = .milliseconds(300)
        var profile = ProviderProfile(
            name: "work", title: "Work", source: "test",
            environments: [ProviderEnvironment(name: "production", baseURL: "https://work.example")],
            defaultEnvironment: "production", signIn: [], renewal: Renewal(kind: .none))
        profile.oauth = OAuthProfile(issuer: "https://work.example", clientID: "authd")
        profile.api.waitsForConnectivity = true
        let rules = try Self.rules(["work"]) { $0.classes = [.status, .token] }
        // The connections' time stands still: only the validation ends its wait.
        try await TestServer.run(
            limits: limits, names: ["work"], catalog: ProfileCatalog([profile]), rules: rules, time: ManualTime()
        ) { rig in
            rig.board.put(network: .offline, providers: [:])
            try await onThread {
                let answer = try rig.dialExtra().ask("session.validate", ["session": "work", "timeout_ms": 700_000])
                #expect(answer.errorKind == "offline", "\(answer.text())")
            }
        }
    }

    @Test("its clients have at most a quarter of all connections")
    func share() {
        let limits = ConnectionLimits.ofThisProcess
        #expect(limits.confinedConnections <= max(1, limits.connectionsInAll / 4))
    }

    @Test("its clients cannot use up the connections of the user")
    func crowd() async throws {
        var limits = ConnectionLimits()
        limits.confinedConnections = 2
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let open = [try rig.dialExtra(), try rig.dialExtra()]
                for client in open { #expect(try client.ask("agent.ping")["result"] != nil) }
                #expect(try rig.dialExtra().json().errorKind == "busy")
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test(
        "a connection counts until its client has received all responses, or has closed its end",
        arguments: [true, false])
    func unread(receives: Bool) async throws {
        var limits = ConnectionLimits()
        limits.confinedConnections = 1
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                var client: RawClient? = try rig.dialExtra()
                #expect(try client?.ask("agent.ping")["result"] != nil)
                try client?.send(RawClient.request("agent.ping"))
                client?.endWriting()
                // The agent has answered and has ended the connection.
                try BadClientTests.until(other) { rig.counters.connections == 1 }
                #expect(try rig.dialExtra().json().errorKind == "busy")
                if receives {
                    #expect(try client?.json()["result"] != nil)
                    #expect(try client?.line() == nil)
                } else {
                    client = nil
                }
                #expect(try other.ask("agent.ping")["result"] != nil)
                #expect(try rig.dialExtra().ask("agent.ping")["result"] != nil)
                withExtendedLifetime(client) {}
            }
        }
    }
}
