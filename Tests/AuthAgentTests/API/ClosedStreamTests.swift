import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("A call whose stream is closed", .timeLimit(.minutes(1)))
struct ClosedStreamTests {
    @Test("sends nothing afterwards, and does not wait for a network", arguments: [true, false])
    func closed(isClosedFirst: Bool) async throws {
        let sent = Mutex<[String]>([])
        let tokens = ExampleProvider.numbering()
        let transport = ScriptedTransport { request async throws(TransportError) in
            guard request.url.hasSuffix("/file") else { return try await tokens.send(request) }
            sent.withLock { $0.append(request.method) }
            return ExampleProvider.json(200, "{}")
        }
        let example = try ExampleProvider(transport: transport) {
            $0.environments = [ProviderEnvironment(name: "local", baseURL: "https://api.example")]
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "a@b.example", "password": "pw"]))
            sessions.context.board.put(network: .offline, providers: [:])
            let params = APIRequest(
                method: "POST", path: "/file", stream: "s", answer: .stream, waitsForConnectivity: true)
            let answers = AsyncStream<Result<APIResponse, AgentError>>.makeStream()
            let api = example.apiClient
            let stream = try api.stream(for: params) { answers.continuation.yield($0) }
            if isClosedFirst { stream.close(.agentLocked) }
            async let life: Void = api.carry(params, by: stream)
            if !isClosedFirst {
                // Until it waits for the network, with the token that it has asked for.
                while !stream.isWaiting { await Task.yield() }
                stream.close(.agentLocked)
            }
            await life
            sessions.context.board.put(network: .online, providers: [:])
            answers.continuation.finish()
            for await answer in answers.stream { #expect(throws: AgentError.agentLocked) { try answer.get() } }
            #expect(sent.withLock { $0 } == [])
        }
    }
}
