import AuthClient
import AuthWire
import Foundation
import Synchronization
import Testing

@Suite("The asynchronous client")
struct AuthClientTests {
    @Test("a token is returned as its type")
    func token() async throws {
        let agent = try TestAgent(replies: ["token.get": .success(Samples.token())])
        defer { agent.stop() }
        let token = try await AuthClient(socket: agent.path).token()
        #expect(token.accessToken == "t0ken")
        #expect(token.session.text == "shop")
    }

    @Test("many calls at once get each its own answer, whatever the order")
    func outOfOrder() async throws {
        let held = Mutex<[(Peer, RPCRequest)]>([])
        let agent = try TestAgent { peer, request in
            // The last of a hundred is answered first.
            let all = held.withLock { held in
                held.append((peer, request))
                return held.count == 100 ? held : []
            }
            for (peer, request) in all.reversed() {
                peer.reply(request, Samples.token(request.params?["audience"]?.stringValue ?? ""))
            }
        }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        try await withThrowingTaskGroup(of: (Int, JSON).self) { group in
            for number in 0..<100 {
                group.addTask { (number, try await client.result(of: TokenGet(audience: "\(number)"))) }
            }
            for try await (number, result) in group { #expect(result["access_token"] == .string("\(number)")) }
        }
    }

    @Test("calls over the agent's limit wait")
    func limit() async throws {
        let state = Mutex((inProgress: [(Peer, RPCRequest)](), most: 0, seen: 0))
        let agent = try TestAgent { peer, request in
            let ready = state.withLock { state in
                state.inProgress.append((peer, request))
                state.most = max(state.most, state.inProgress.count)
                state.seen += 1
                // Nobody is answered before the limit is reached, or all are here.
                guard state.inProgress.count == Limits.requestsPerConnection || state.seen == 300 else {
                    return [(Peer, RPCRequest)]()
                }
                defer { state.inProgress = [] }
                return state.inProgress
            }
            for (peer, request) in ready { peer.reply(request, [:]) }
        }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await client.result(of: AgentPing()) } }
            try await group.waitForAll()
        }
        #expect(state.withLock { $0.most } == Limits.requestsPerConnection)
    }

    @Test("a call without a response ends at its deadline, and others continue")
    func deadline() async throws {
        let agent = try TestAgent { peer, request in
            if request.method == "agent.ping" { peer.reply(request, ["pid": 1]) }
        }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        await #expect(throws: ClientError.timedOut) {
            try await client.result(of: SessionListGet(), timeout: .milliseconds(20))
        }
        #expect(try await client.result(of: AgentPing())["pid"] == 1)
    }

    @Test("a cancelled task's call ends with it")
    func cancellation() async throws {
        let agent = try TestAgent { _, _ in }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: ClientError.cancelled) { try await client.result(of: AgentPing()) }
            }
            for await event in agent.events {
                if case .request = event { break }
            }
            group.cancelAll()
        }
    }

    @Test("a call by a task that is cancelled already is not sent")
    func cancelledBefore() async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: ClientError.cancelled) { try await client.result(of: AgentPing()) }
            }
        }
        #expect(agent.requests.isEmpty)
    }

    @Test("when the agent ends, calls in flight fail, and the next call uses the next agent")
    func restart() async throws {
        let first = try TestAgent { peer, _ in peer.end() }
        let client = try AuthClient(socket: first.path)
        await #expect(throws: ClientError.closed) { try await client.result(of: AgentPing()) }
        first.vanish()
        await #expect(throws: ClientError.noAgent(path: first.path, reason: "no such file")) {
            try await client.result(of: AgentPing())
        }
        let second = try TestAgent(folder: first.folder, replies: ["agent.ping": .success(["pid": 2])])
        defer { second.stop() }
        #expect(try await client.result(of: AgentPing())["pid"] == 2)
    }

    @Test("calls of a closed client are cancelled, including later ones")
    func close() async throws {
        let agent = try TestAgent { _, _ in }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: ClientError.cancelled) { try await client.result(of: AgentPing()) }
            }
            for await event in agent.events {
                if case .request = event { break }
            }
            client.close()
        }
        await #expect(throws: ClientError.cancelled) { try await client.result(of: AgentPing()) }
    }

    @Test("a dropped client leaves no connection: the agent sees each one end")
    func dropped() async throws {
        let agent = try TestAgent(replies: ["agent.ping": .success(["pid": 1])])
        defer { agent.stop() }
        for _ in 0..<50 {
            _ = try await AuthClient(socket: agent.path).result(of: AgentPing())
        }
        var ended = 0
        for await event in agent.events {
            if case .ended = event { ended += 1 }
            if ended == 50 { break }
        }
        #expect(ended == 50)
    }

    @Test("sixty-four calls that block do not hold up Swift's thread pool")
    func poolStaysFree() async throws {
        let agent = try TestAgent { _, _ in }
        defer { agent.stop() }
        let client = try AuthClient(socket: agent.path)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 { group.addTask { _ = try? await client.result(of: AgentPing()) } }
            var seen = 0
            for await event in agent.events {
                if case .request = event { seen += 1 }
                if seen == 64 { break }
            }
            // All wait; a separate task still runs.
            #expect(await Task.detached { 42 }.value == 42)
            group.cancelAll()
        }
    }
}
