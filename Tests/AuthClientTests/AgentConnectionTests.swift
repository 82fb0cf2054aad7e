import AuthClient
import AuthWire
import Glibc
import Testing

@Suite("The blocking connection")
struct AgentConnectionTests {
    @Test("a call returns the agent's result")
    func call() throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        let result = try connection.result(of: TokenGet(), deadline: .after(.seconds(10)))
        #expect(result["access_token"] == "t0ken")
    }

    @Test("one descriptor is received with a message, if the program accepts any, and none is left open")
    func descriptors() throws {
        for accepts in [false, true] {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let (reading, writing) = (ends[0], ends[1])
            defer { close(reading) }
            let agent = try TestAgent { peer, request in
                peer.send(RPCReply.result(request.id ?? .null, Samples.token()), passingTwice: writing)
            }
            defer { agent.stop() }
            let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
            if accepts { connection.acceptDescriptors() }
            _ = try connection.result(of: TokenGet(), deadline: .after(.seconds(10)))
            close(writing)
            var passed = connection.takeDescriptor()
            #expect((passed != nil) == accepts && connection.takeDescriptor() == nil)
            if let passed { #expect(fcntl(passed.number, F_GETFD) == FD_CLOEXEC) }
            passed = nil
            // The end of the pipe: nobody can write to it any more.
            var state = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            #expect(poll(&state, 1, 0) == 1 && Int32(state.revents) & Int32(POLLHUP) != 0)
        }
    }

    @Test("the agent's error keeps its kind")
    func failure() throws {
        let agent = try TestAgent(replies: ["token.get": .failure(AgentError(.offline, "There is no network."))])
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(throws: ClientError.agent(AgentError(.offline, "There is no network."))) {
            try connection.result(of: TokenGet(), deadline: .after(.seconds(10)))
        }
    }

    @Test("a missing agent differs from every other failure")
    func noAgent() throws {
        let folder = try TestFolder.make()
        defer { rmdir(folder) }
        let path = folder + "/socket"
        #expect(throws: ClientError.noAgent(path: path, reason: "no such file")) {
            try AgentConnection(path: path, deadline: .after(.seconds(10)))
        }
    }

    @Test("an invalid socket path means no agent")
    func longPath() {
        let path = "/" + String(repeating: "x", count: 200)
        #expect(throws: ClientError.noAgent(path: path, reason: "the path of a socket must have 1 to 107 bytes")) {
            try AgentConnection(path: path, deadline: .after(.seconds(10)))
        }
    }

    @Test("a silent agent costs the deadline only, and the connection still works")
    func deadline() throws {
        let agent = try TestAgent { peer, request in
            if request.method == "agent.ping" { peer.reply(request, ["pid": 1]) }
        }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(throws: ClientError.timedOut) {
            try connection.result(of: SessionListGet(), deadline: .after(.milliseconds(20)))
        }
        #expect(try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))["pid"] == 1)
    }

    @Test("half an answer and silence ends at the deadline")
    func halfAnswer() throws {
        let agent = try TestAgent { peer, _ in peer.send(bytes: Array(#"{"jsonrpc":"2.0","id":1,"res"#.utf8)) }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(throws: ClientError.timedOut) {
            try connection.result(of: AgentPing(), deadline: .after(.milliseconds(20)))
        }
    }

    @Test("an agent that sends other messages does not block the caller")
    func chatter() throws {
        let agent = try TestAgent { peer, _ in
            for _ in 0..<200_000 { peer.send(bytes: Array(#"{"jsonrpc":"2.0","method":"tick"}"#.utf8) + [0x0A]) }
        }
        defer { agent.stop() }
        do {
            let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
            #expect(throws: ClientError.timedOut) {
                try connection.result(of: AgentPing(), deadline: .after(.milliseconds(20)))
            }
        }
    }

    @Test("an agent that vanishes in mid-answer closed the connection")
    func vanishing() throws {
        let agent = try TestAgent { peer, _ in
            peer.send(bytes: Array(#"{"jsonrpc":"2.0","#.utf8))
            peer.end()
        }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(throws: ClientError.closed) {
            try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
        }
        // Writing to it is no SIGPIPE.
        #expect(throws: ClientError.closed) {
            _ = try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
            _ = try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
        }
    }

    @Test("an answer without end is refused before it fills the memory")
    func hugeLine() throws {
        let agent = try TestAgent { peer, _ in
            let part = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<16 { peer.send(bytes: part) }
        }
        defer { agent.stop() }
        do {
            let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
            #expect(throws: ClientError.tooLong(limit: 12 << 20)) {
                try connection.result(of: AgentPing(), deadline: .after(.seconds(60)))
            }
        }
    }

    @Test("an answer of several MiB is one answer")
    func largeAnswer() throws {
        let text = String(repeating: "é", count: 3 << 20)
        let agent = try TestAgent(replies: ["agent.ping": .success(["text": .string(text)])])
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(try connection.result(of: AgentPing(), deadline: .after(.seconds(60)))["text"]?.stringValue == text)
    }

    @Test("a request over the agent's limit is not sent")
    func hugeRequest() throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        let text = String(repeating: "x", count: Limits.lineBytes)
        #expect(throws: ClientError.tooLong(limit: Limits.lineBytes)) {
            try connection.result(of: ProviderCheckRun(text: text), deadline: .after(.seconds(10)))
        }
        #expect(agent.requests.isEmpty)
    }

    @Test("an invalid message is a bad reply", arguments: ["HTTP/1.1 400", "[]", "{}", "{\"id\":1}"])
    func nonsense(line: String) throws {
        let agent = try TestAgent { peer, _ in peer.send(bytes: Array(line.utf8) + [0x0A]) }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        let error = #expect(throws: ClientError.self) {
            try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
        }
        guard case .badReply = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a refusal of the whole connection reaches the one who calls")
    func refusedConnection() throws {
        let refusal = AgentError(.busy, "This process has too many connections.")
        let agent = try TestAgent { peer, _ in peer.send(RPCReply.failure(.null, refusal)) }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        #expect(throws: ClientError.agent(refusal)) {
            try connection.result(of: AgentPing(), deadline: .after(.seconds(10)))
        }
    }

    @Test("events during a call are buffered")
    func bufferedEvents() throws {
        let agent = try TestAgent { peer, request in
            peer.send(Samples.snapshot([Samples.status()]))
            peer.reply(request, [:])
        }
        defer { agent.stop() }
        let connection = try AgentConnection(path: agent.path, deadline: .after(.seconds(10)))
        _ = try connection.result(of: EventsSubscribe(SubscribeParams()), deadline: .after(.seconds(10)))
        #expect(try connection.nextEvent(deadline: .now)?.name == "snapshot")
        #expect(try connection.nextEvent(deadline: .after(.milliseconds(5))) == nil)
    }
}
