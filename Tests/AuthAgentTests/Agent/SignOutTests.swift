import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("A sign-out, and the provider's revocation")
struct SignOutTests {
    /// Which tokens were sent to which path, in order.
    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        private let (reported, tell) = AsyncStream<String>.makeStream()

        func note(_ request: HTTPRequest) {
            let path = request.url.split(separator: "/").last.map(String.init) ?? ""
            let bearer = request.headers.first { $0.name == "Authorization" }?.value.reveal() ?? "nothing"
            lines.withLock { $0.append("\(path) \(bearer)") }
            tell.yield("\(path) \(bearer)")
        }

        var all: [String] { lines.withLock { $0 } }

        /// Returns when it has been sent.
        func reaches(_ line: String) async {
            for await next in reported where next == line { return }
        }
    }

    private static func example(
        _ log: Log, renewal: @escaping @Sendable (Int) async throws(TransportError) -> HTTPResponse
    ) throws -> ExampleProvider {
        let numbers = Counter()
        let transport = ScriptedTransport { request throws(TransportError) in
            log.note(request)
            if request.url.hasSuffix("/logout") { return ExampleProvider.json(200, "{}") }
            let number = numbers.next()
            if request.url.hasSuffix("/refresh") { return try await renewal(number) }
            return ExampleProvider.json(200, #"{"token":"token-\#(number)","expires_in":1000}"#)
        }
        return try ExampleProvider(transport: transport) {
            $0.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
        }
    }

    @Test("revokes the token in use, and the one of a renewal that was in progress")
    func duringRenewal() async throws {
        let log = Log()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let example = try Self.example(log) { number throws(TransportError) in
            for await _ in gate { break }
            return ExampleProvider.json(200, #"{"token":"token-\#(number)","expires_in":1000}"#)
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            example.clock.advance(.seconds(400))
            async let renewed = try? sessions.refresh(SessionParams())
            await log.reaches("refresh Bearer token-1")
            #expect(try await sessions.logout(SessionLogout()).state == .signedOut)
            #expect(log.all.last == "logout Bearer token-1")
            open.yield()
            await log.reaches("logout Bearer token-2")
            _ = await renewed
            #expect(try await example.store.loadAll().isEmpty)
        }
    }

    @Test("does not revoke a late token if revocation is off")
    func quiet() async throws {
        let log = Log()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (ended, end) = AsyncStream<Void>.makeStream()
        let example = try Self.example(log) { number throws(TransportError) in
            for await _ in gate { break }
            end.yield()
            return ExampleProvider.json(200, #"{"token":"token-\#(number)","expires_in":1000}"#)
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            example.clock.advance(.seconds(400))
            async let renewed = try? sessions.refresh(SessionParams())
            await log.reaches("refresh Bearer token-1")
            _ = try await sessions.logout(SessionLogout(revoke: false))
            open.yield()
            for await _ in ended { break }
            _ = await renewed
        }
        #expect(!log.all.contains { $0.hasPrefix("logout") })
    }
}
