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
        let pool = ClientPool(group: MultiThreadedEventLoopGroup.singleton) { _, _ in HTTPClient.Configuration() }
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

    @Test("requests that close their connections have another one, which stays until another origin needs one")
    func closing() async throws {
        try await withPool { pool in
            let closing = try await client(of: pool, to: here, closes: true)
            await pool.renew(to: [here, elsewhere])
            #expect(try await client(of: pool, to: here, closes: true) === closing)
            // These may leave a connection open.
            #expect(try await client(of: pool, to: here) !== closing)
            await pool.renew(to: [here])
            #expect(try await client(of: pool, to: here, closes: true) === closing)
            let other = try await client(of: pool, to: elsewhere, closes: true)
            #expect(other !== closing)
            let next = try await client(of: pool, to: here, closes: true)
            #expect(next !== closing)
            await pool.renew()
            #expect(try await client(of: pool, to: here, closes: true) !== next)
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
