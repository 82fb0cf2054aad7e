import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("The providers of sessions that the run before handed over", .timeLimit(.minutes(1)))
struct HandoverProbeTests {
    private struct Former: HandoverStore {
        let handover: Handover
        var hasNewest: Bool { true }

        func load(of kind: StoreKind) -> Handover { handover }
        func save(_ handover: Handover, of kind: StoreKind) {}
    }

    @Test("are probed once, when clients are served")
    func once() async throws {
        let now = ManualClock().now().wall
        let record = SessionRecord(
            session: try SessionName("work"), provider: "example", environment: "remote", method: "password",
            tokens: TokenSet(
                accessToken: Secret("token-1"), refreshToken: Secret("refresh-1"), issuedAt: now,
                expiresAt: now + .seconds(1000)),
            user: nil, rawUser: nil, signedInAt: now, generation: 1, revision: 1)
        let former = Former(
            handover: Handover([HandedOverSession(record: record, isStored: false, isUnsaved: true)]))
        let example = try ExampleProvider(
            transport: ExampleProvider.numbering(), network: StillNetwork(.limited), handover: former,
            waitsForClients: true
        ) { $0.environments.append(ProviderEnvironment(name: "remote", baseURL: "https://api.example.org")) }
        // As at a start: nothing else runs yet.
        #expect(await example.loader.restoreHandedOver() == true)
        try await example.running { sessions, _ in
            let board = sessions.context.board
            #expect(sessions.liveToken(TokenGet(session: record.session)) != nil)
            #expect(example.transport.asked.isEmpty)
            // The first reading of the network has been handled.
            for await _ in board.changes() where board.network.state == .limited { break }
            example.loader.clientsAreServed()
            for await _ in board.changes() where board.network.providers["example"] != nil { break }
            #expect(example.transport.asked.count == 1)
        }
    }
}
