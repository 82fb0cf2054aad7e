import AsyncHTTPClient
import AuthModel
import NIOPosix
import Testing

@testable import AuthHTTP

@Suite("The pools of connections")
struct ClientPoolTests {
    private let here: Origin
    private let elsewhere: Origin

    init() throws {
        here = try Origin("https://here.example")
        elsewhere = try Origin("https://elsewhere.example")
    }

    private func withPool(_ body: (ClientPool) async throws -> Void) async throws {
        let pool = ClientPool(group: MultiThreadedEventLoopGroup.singleton) { _ in HTTPClient.Configuration() }
        do { try await body(pool) } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }

    /// The client that a request would use.
    private func client(of pool: ClientPool, to origin: Origin, closes: Bool = false) async throws -> HTTPClient {
        let lease = try #require(pool.borrow(.direct, to: origin, closes: closes))
        await pool.release(lease)
        return lease.client
    }

    @Test("requests that close their connections share one for all origins, which no closed origin ends")
    func shared() async throws {
        try await withPool { pool in
            let shared = try await client(of: pool, to: here, closes: true)
            #expect(try await client(of: pool, to: elsewhere, closes: true) === shared)
            await pool.renew(to: [here, elsewhere])
            #expect(try await client(of: pool, to: here, closes: true) === shared)
            // These may leave a connection open.
            #expect(try await client(of: pool, to: here) !== shared)
            await pool.renew()
            #expect(try await client(of: pool, to: elsewhere, closes: true) !== shared)
        }
    }

    @Test("a request that closes its connection uses the pool of its origin while there is one")
    func own() async throws {
        try await withPool { pool in
            let own = try await client(of: pool, to: here)
            #expect(try await client(of: pool, to: here, closes: true) === own)
            #expect(try await client(of: pool, to: elsewhere, closes: true) !== own)
            await pool.renew(to: [here])
            #expect(try await client(of: pool, to: here, closes: true) !== own)
        }
    }
}
