import AgentTestSupport
import AuthAgent
import AuthDaemon
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

/// Clients that request a socket for a body, on a real connection.
@Suite("Sockets for bodies on the agent's socket", .timeLimit(.minutes(1)))
struct BodySocketRequestTests {
    /// - Parameters:
    ///   - statuses: of the provider's first responses to a body.
    ///   - responds: whether the provider responds to requests without a body.
    ///   - downloads: the provider's responses to requests for streams.
    static func play(
        statuses: [Int] = [], responds: Bool = true, downloads: [ScriptedDownload] = [],
        limits: ConnectionLimits = ConnectionLimits(),
        rules: ListenerRules = ListenerRules(), time: ManualTime? = nil, lines: Lines = Lines(),
        _ body: @escaping @Sendable (TestServer, BodyTransport) async throws -> Void
    ) async throws {
        let now = BootClock().now().wall
        let store = MemoryStore()
        // Old enough for its age to be what is wrong with it after a 401.
        try await store.save(
            SessionRecord(
                session: try SessionName("sample"), provider: "sample", environment: "production", method: "password",
                tokens: TokenSet(
                    accessToken: Secret("a-token"), refreshToken: Secret("a-refresh-token"),
                    issuedAt: now + .seconds(-1000), expiresAt: now + .seconds(3600)),
                user: nil, rawUser: nil, signedInAt: now + .seconds(-1000)))
        let transport = BodyTransport(statuses: statuses, responds: responds, downloads: downloads)
        try await TestServer.run(
            limits: limits, names: [], catalog: ProfileCatalog([try Sample.profile()]), rules: rules, time: time,
            logger: lines.logger, keptIn: store, transport: transport
        ) { rig in try await body(rig, transport) }
    }

    /// A client with a call that waits for its body.
    struct Upload {
        let client: RawClient
        var answers: [Int64: JSON] = [:]

        init(_ client: RawClient, size: Int? = nil) throws {
            self.client = client
            try begin("s", size: size, id: 1)
        }

        func begin(_ stream: String, size: Int? = nil, id: JSON) throws {
            let body: JSON = size.map { ["size": .integer(Int64($0))] } ?? [:]
            try client.send(
                RawClient.request(
                    "api.request",
                    ["method": "POST", "path": "/up", "stream": .string(stream), "body_stream": body], id: id))
        }

        static func request(_ stream: String = "s", at offset: Int = 0, id: JSON? = 2) -> String {
            RawClient.request(
                "api.write", ["stream": .string(stream), "offset": .integer(Int64(offset)), "socket": true], id: id)
        }

        /// - Returns: the answer, and the client's end of the socket.
        func socket(_ stream: String = "s", at offset: Int = 0) throws -> (answer: JSON, end: PassedSocket?) {
            try client.answerAndSocket(to: Self.request(stream, at: offset))
        }

        /// The end of the body.
        func sendLast(at offset: Int, id: JSON = 3) throws {
            try client.send(
                RawClient.request(
                    "api.write", ["stream": "s", "offset": .integer(Int64(offset)), "last": true], id: id))
        }

        /// The answers to the last piece and to the call, in any order.
        mutating func ending(at offset: Int) throws -> (write: JSON?, call: JSON?) {
            try sendLast(at: offset)
            for _ in 1...2 {
                let answer = try client.json()
                if let id = answer["id"]?.integerValue { answers[id] = answer }
            }
            return (answers[3]?["result"], answers[1]?["result"])
        }
    }

    @Test("a client writes a body to its socket, which is closed before the response comes")
    func honest() async throws {
        try await Self.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial(), size: 6)
                let (answer, end) = try upload.socket()
                #expect(answer["result"]?["next"] == 0, "\(answer.text())")
                let socket = try #require(end)
                #expect(socket.write("abc") && socket.write("def"))
                let (write, call) = try upload.ending(at: 6)
                #expect(write?["done"] == true && call?["status"] == 200, "\(upload.answers)")
                #expect(transport.bodies == ["abcdef"])
                #expect(socket.isClosed() && !socket.write("x"))
                rig.turn()
                #expect(rig.counters.bodySockets == 1 && rig.counters.openBodySockets == 0)
                let counters = try upload.client.ask("agent.stats")["result"]?["counters"]
                #expect(counters?["body_sockets"] == 1 && counters?["open_body_sockets"] == 0)
            }
        }
    }

    @Test("there is none at another offset, in a batch, for a notification, with bytes, or without a body")
    func refusals() async throws {
        try await Self.play { rig, _ in
            try await onThread {
                let upload = try Upload(try rig.dial())
                let (wrong, none) = try upload.socket(at: 7)
                #expect(wrong["result"]?["next"] == 0 && none == nil, "\(wrong.text())")
                try upload.client.send("[" + Upload.request(id: 4).dropLast() + "]\n")
                let (batch, inBatch) = try upload.client.jsonAndDescriptor()
                #expect(batch.arrayValue?.first?.errorCode == -32602 && inBatch == nil, "\(batch.text())")
                try upload.client.send(Upload.request(id: nil) + RawClient.request("agent.ping", id: 5))
                let (ping, silent) = try upload.client.jsonAndDescriptor()
                #expect(ping["id"] == 5 && silent == nil, "\(ping.text())")
                for more in ["body_base64": "AAAA", "last": true] as [String: JSON] {
                    let params: JSON = ["stream": "s", "offset": 0, "socket": true, more.key: more.value]
                    #expect(try upload.client.ask("api.write", params).errorCode == -32602)
                }
                let nobody = try upload.socket("nobody")
                #expect(nobody.answer.errorCause == "no_stream" && nobody.end == nil)
                rig.turn()
                #expect(rig.counters.bodySockets == 0 && rig.counters.openBodySockets == 0)
                // The stream is as before.
                #expect(try upload.socket().end != nil)
            }
        }
    }

    @Test("there is none while responses wait for the client, which has to receive them first")
    func unreceived() async throws {
        try await Self.play { rig, _ in
            try await onThread {
                let upload = try Upload(try rig.dial())
                var sent = 1
                while rig.counters.unsentBytes == 0 {
                    try upload.client.send(RawClient.request("agent.ping", id: 9))
                    sent += 1
                }
                try upload.client.send(Upload.request(id: "socket"))
                while rig.counters.requests < sent + 1 { rig.turn() }
                var answer = try upload.client.json()
                while answer["id"] != "socket" { answer = try upload.client.json() }
                #expect(answer.errorKind == "busy", "\(answer.text())")
                #expect(rig.counters.bodySockets == 0)
                #expect(try upload.socket().end != nil)
            }
        }
    }

    enum Ending: CaseIterable { case lock, rule, close, connection }

    @Test("the lock, a rule, the client's request and the end of its connection close it", arguments: Ending.allCases)
    func endings(ending: Ending) async throws {
        try await Self.play { rig, _ in
            _ = try await rig.lock.setPassphrase(AgentPassphrase(passphrase: "correct horse battery"))
            try await onThread {
                var upload: Upload? = try Upload(try rig.dial())
                let socket = try #require(try upload?.socket().end)
                #expect(socket.write("abc") && rig.counters.openBodySockets == 1)
                switch ending {
                case .lock: #expect(try rig.dial().ask("agent.lock")["result"]?["locked"] == true)
                case .rule:
                    let rule = AccessControlTests.rule("no-calls") { $0.request.classes = [.act] }
                    rig.access.change { $0 = AccessControlTests.policy(rule) }
                case .close: try upload?.client.send(RawClient.request("api.close", ["stream": "s"], id: 4))
                case .connection: upload = nil
                }
                #expect(socket.isClosed() && !socket.write("d"))
                if let upload {
                    let kinds = ending == .close ? [nil, "denied"] : [ending == .lock ? "agent_locked" : "denied"]
                    for _ in kinds { #expect(kinds.contains(try upload.client.json().errorKind)) }
                }
                rig.turn()
                #expect(rig.counters.openBodySockets == 0)
            }
        }
    }

    @Test("a call whose client leaves is recorded as cancelled, with a stream or without", arguments: [true, false])
    func leaving(hasStream: Bool) async throws {
        try await Self.play(responds: false) { rig, _ in
            try await onThread {
                func begin() throws {
                    let client = try rig.dial()
                    if hasStream {
                        _ = try Upload(client)
                    } else {
                        try client.send(RawClient.request("api.request", ["method": "GET", "path": "/up"], id: 1))
                    }
                    // The call has begun.
                    #expect(try client.ask("agent.ping")["result"] != nil)
                }
                try begin()
                var entries: [AuditItem] = []
                while entries.isEmpty { entries = try AuditLogTests.list(rig) }
                #expect(entries.map(\.cancelled) == [true] && entries.map(\.error) == [.timeout], "\(entries)")
            }
        }
    }

    @Test("a sign-out does not end a call that has its token, and the call closes its socket")
    func signOut() async throws {
        try await Self.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial(), size: 6)
                let socket = try #require(try upload.socket().end)
                #expect(socket.write("abc"))
                while transport.readings == 0 { rig.turn() }
                #expect(try rig.dial().ask("session.logout")["result"] != nil)
                #expect(socket.write("def"))
                let (_, call) = try upload.ending(at: 6)
                #expect(call?["status"] == 200 && transport.bodies == ["abcdef"], "\(upload.answers)")
                #expect(socket.isClosed())
                // No other call begins.
                try upload.begin("t", id: 7)
                #expect(try upload.client.json().errorKind != nil)
            }
        }
    }

    @Test("after a 401 the body is sent again, to another socket")
    func repeated() async throws {
        try await Self.play(statuses: [401]) { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial(), size: 6)
                let first = try #require(try upload.socket().end)
                #expect(first.write("abcdef"))
                try upload.sendLast(at: 6, id: 6)
                let again = try upload.client.json()
                #expect(again["id"] == 6 && again["result"]?["next"] == 0, "\(again.text())")
                #expect(again["result"]?["done"] != true && first.isClosed())
                #expect(try upload.socket(at: 6).end == nil)
                let second = try #require(try upload.socket().end)
                #expect(second.write("abcdef"))
                let (write, call) = try upload.ending(at: 6)
                #expect(write?["done"] == true && call?["status"] == 200, "\(upload.answers)")
                #expect(transport.bodies == ["abcdef", "abcdef"] && rig.counters.bodySockets == 2)
            }
        }
    }

    @Test("no more is read than was announced, and more is an error")
    func tooMuch() async throws {
        try await Self.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial(), size: 3)
                let socket = try #require(try upload.socket().end)
                #expect(socket.write("abcdef"))
                try upload.sendLast(at: 6, id: 6)
                #expect(try upload.client.json().errorCause == "size")
                let (_, call) = try upload.ending(at: 3)
                #expect(call?["status"] == 200 && transport.bodies == ["abc"], "\(upload.answers)")
                #expect(socket.isClosed())
            }
        }
    }

    @Test("a client that closes its end too early has not ended the body, and can continue")
    func early() async throws {
        try await Self.play { rig, transport in
            try await onThread {
                var upload = try Upload(try rig.dial())
                var socket = try upload.socket().end
                #expect(socket?.write("abc") == true)
                socket = nil
                try upload.sendLast(at: 9, id: 6)
                #expect(try upload.client.json()["result"]?["next"] == 3)
                #expect(transport.bodies == [])
                socket = try upload.socket(at: 3).end
                #expect(socket?.write("def") == true)
                let (_, call) = try upload.ending(at: 6)
                #expect(call?["status"] == 200 && transport.bodies == ["abcdef"], "\(upload.answers)")
            }
        }
    }
}
