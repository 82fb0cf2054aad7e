import AuthClient
import AuthWire
import Synchronization
import Testing

@Suite("The client's events")
struct AgentEventsTests {
    private static func changed(_ state: String) -> JSON {
        RPCReply.notification(
            AgentEvent.method,
            [
                "topic": "session", "event": "changed", "at": 1_700_000_001, "session": "shop",
                "status": Samples.status(["state": .string(state)]),
            ])
    }

    private static func subscribing(_ folder: String? = nil, then events: [JSON] = []) throws -> TestAgent {
        try TestAgent(folder: folder) { peer, request in
            peer.reply(request, [:])
            peer.send(Samples.snapshot([Samples.status()]))
            for event in events { peer.send(event) }
        }
    }

    @Test("the first event is a snapshot, and changes follow in order")
    func order() async throws {
        let agent = try Self.subscribing(then: [Self.changed("stale"), Self.changed("active")])
        defer { agent.stop() }
        var events = try AuthClient(socket: agent.path).events(topics: [.session]).makeAsyncIterator()
        #expect(try await events.next()?.name == "snapshot")
        #expect(try await events.next()?.status?.state == .stale)
        #expect(try await events.next()?.status?.state == .active)
        #expect(agent.requests.first?.params?["topics"] == ["session"])
    }

    @Test("a lost agent means one 'disconnected', then a new snapshot")
    func reconnects() async throws {
        let first = try Self.subscribing()
        var events = try AuthClient(socket: first.path).events().makeAsyncIterator()
        #expect(try await events.next()?.name == "snapshot")
        first.vanish()
        #expect(try await events.next()?.name == "disconnected")
        let second = try Self.subscribing(first.folder)
        defer { second.stop() }
        #expect(try await events.next()?.name == "snapshot")
    }

    @Test("a subscription may begin before there is an agent")
    func agentStartsLater() async throws {
        let folder = try TestFolder.make()
        var events = try AuthClient(socket: folder + "/authd/socket").events().makeAsyncIterator()
        #expect(try await events.next()?.name == "disconnected")
        let agent = try Self.subscribing(folder)
        defer { agent.stop() }
        #expect(try await events.next()?.name == "snapshot")
    }

    @Test("a subscription that the agent refuses ends with its error")
    func refused() async throws {
        let refusal = AgentError(.unknownSession, "There is no session 'nope'.")
        let agent = try TestAgent(replies: ["events.subscribe": .failure(refusal)])
        defer { agent.stop() }
        var events = try AuthClient(socket: agent.path).events(session: SessionName("nope")).makeAsyncIterator()
        await #expect(throws: ClientError.agent(refusal)) { try await events.next() }
        #expect(try await events.next() == nil)
    }

    @Test("a busy agent is asked again after the time that it requests, and not before")
    func busy() async throws {
        let refusal = AgentError(.busy, "Too many connections.", retryAfter: .milliseconds(400))
        let times = Mutex<[ContinuousClock.Instant]>([])
        let agent = try TestAgent { peer, request in
            let count = times.withLock { times in
                times.append(.now)
                return times.count
            }
            guard count > 1 else { return peer.send(RPCReply.failure(.null, refusal)) }
            peer.reply(request, [:])
            peer.send(Samples.snapshot([Samples.status()]))
        }
        defer { agent.stop() }
        var events = try AuthClient(socket: agent.path).events().makeAsyncIterator()
        #expect(try await events.next()?.name == "disconnected")
        #expect(try await events.next()?.name == "snapshot")
        let requests = times.withLock { $0 }
        try #require(requests.count == 2)
        #expect(requests[1] - requests[0] >= .milliseconds(400))
    }

    @Test("a slow reader gets every event, and memory stays bounded by the feed's limit")
    func slowReader() async throws {
        let agent = try Self.subscribing(then: (0..<2000).map { _ in Self.changed("active") })
        defer { agent.stop() }
        var events = try AuthClient(socket: agent.path).events().makeAsyncIterator()
        for _ in 0..<2001 { #expect(try await events.next() != nil) }
    }

    @Test("a cancelled task's iteration ends, and its connection with it")
    func cancelled() async throws {
        let agent = try Self.subscribing()
        defer { agent.stop() }
        let events = try AuthClient(socket: agent.path).events()
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask {
                var count = 0
                for try await _ in events { count += 1 }
                return count
            }
            for await event in agent.events {
                if case .request = event { break }
            }
            group.cancelAll()
            for try await count in group { #expect(count <= 1) }
        }
        for await event in agent.events {
            if case .ended = event { break }
        }
    }

    @Test("a dropped iterator ends its connection")
    func dropped() async throws {
        let agent = try Self.subscribing()
        defer { agent.stop() }
        do {
            var events = try AuthClient(socket: agent.path).events().makeAsyncIterator()
            #expect(try await events.next()?.name == "snapshot")
        }
        for await event in agent.events {
            if case .ended = event { break }
        }
    }
}
