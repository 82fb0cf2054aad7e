import AuthClient
import AuthWire
import Testing

@Suite("After clients end")
struct LeftoverTests {
    @Test("after fifty clients and fifty subscriptions the process has its former descriptors")
    func descriptors() async {
        // A separate process, in which nothing else opens a descriptor.
        await #expect(processExitsWith: .success) {
            let agent = try TestAgent { peer, request in
                peer.reply(request, ["pid": 1])
                if request.method == "events.subscribe" { peer.send(Samples.snapshot([])) }
            }
            // The first use opens what the runtime keeps for itself.
            try await Self.use(agent, times: 1)
            let before = openDescriptors()
            try await Self.use(agent, times: 50)
            // A client's thread closes its own last, a moment after the agent has seen the end of its connection.
            let timeout = ContinuousClock.now + .seconds(10)
            while !openDescriptors().isSubset(of: before), ContinuousClock.now < timeout { await Task.yield() }
            #expect(openDescriptors().isSubset(of: before))
            agent.stop()
        }
    }

    /// Makes clients that call, subscribe and are dropped, and waits until the agent has seen each connection end.
    private static func use(_ agent: TestAgent, times: Int) async throws {
        for _ in 0..<times {
            let client = try AuthClient(socket: agent.path)
            _ = try await client.result(of: AgentPing())
            var events = client.events().makeAsyncIterator()
            _ = try await events.next()
        }
        var ended = 0
        for await event in agent.events {
            if case .ended = event { ended += 1 }
            if ended == 2 * times { return }
        }
    }
}
