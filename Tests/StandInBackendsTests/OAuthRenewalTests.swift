import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StandInBackends
import Testing

@Suite("The authorization server's refresh tokens")
struct OAuthRenewalTests {
    private static func with(
        grace: Duration, _ test: @Sendable @escaping (OAuthStandIn, HTTPClient) async throws -> Void
    ) async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.grace = grace
        try await OAuthStandIn.serving(configuration) { server in
            let http = HTTPClient(eventLoopGroupProvider: .singleton)
            let result: Result<Void, any Error>
            do { result = .success(try await test(server, http)) } catch { result = .failure(error) }
            try await http.shutdown()
            try result.get()
        }
    }

    private struct Tokens: Decodable {
        let access_token: String
        let refresh_token: String
    }

    /// `nil`: refused.
    private static func renew(_ token: String, _ server: OAuthStandIn, _ http: HTTPClient) async throws -> Tokens? {
        var request = HTTPClientRequest(url: server.issuer + "/token")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = .bytes(
            ByteBuffer(string: "grant_type=refresh_token&client_id=authd-test&refresh_token=\(token)"))
        let response = try await http.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .ok else { return nil }
        return try JSONDecoder().decode(Tokens.self, from: Data(body.readableBytesView))
    }

    @Test("a used one ends its session, and the log has each request")
    func reuse() async throws {
        try await Self.with(grace: .zero) { server, http in
            let first = server.giveRefreshToken()
            let tokens = try #require(try await Self.renew(first, server, http))
            let standing = try #require(server.standing(ofAccessToken: tokens.access_token))
            #expect(standing.revokedAt == nil && standing.endsAt - standing.issuedAt == .seconds(3600))
            #expect(try await Self.renew(first, server, http) == nil)
            #expect(try await Self.renew(tokens.refresh_token, server, http) == nil)
            #expect(try await Self.renew("rt-of-nobody", server, http) == nil)
            let log = server.renewals
            #expect(
                log.map(\.outcome) == [
                    .renewed(accessToken: tokens.access_token, isRepeated: false), .refused(.reused), .refused(.ended),
                    .refused(.unknown),
                ])
            #expect(log.map(\.sent) == [first, first, tokens.refresh_token, "rt-of-nobody"])
            #expect(log.allSatisfy { $0.client == "127.0.0.1" } && log.map(\.at) == log.map(\.at).sorted())
            let revoked = try #require(server.standing(ofAccessToken: tokens.access_token)?.revokedAt)
            #expect(revoked >= log[0].at && revoked <= log[1].at && server.counts.reuses == 1)
            #expect(server.standing(ofAccessToken: "at-of-nobody") == nil)
        }
    }

    @Test("a used one is accepted in its grace period, which its first use begins")
    func grace() async throws {
        try await Self.with(grace: .seconds(600)) { server, http in
            let first = server.giveRefreshToken()
            let second = try #require(try await Self.renew(first, server, http))
            let repeated = try #require(try await Self.renew(first, server, http))
            #expect(repeated.refresh_token != second.refresh_token && server.counts.reuses == 0)
            // Both are of the same session, which goes on.
            #expect(try await Self.renew(second.refresh_token, server, http) != nil)
            let last = try #require(try await Self.renew(repeated.refresh_token, server, http))
            let repeats = server.renewals.map { renewal -> Bool? in
                if case .renewed(_, let isRepeated) = renewal.outcome { isRepeated } else { nil }
            }
            #expect(repeats == [false, true, true, true])
            // Without a grace period, every token but the newest one is used.
            server.setGrace(.zero)
            #expect(server.goodTokens.contains(last.refresh_token) && !server.goodTokens.contains(first))
            #expect(try await Self.renew(first, server, http) == nil)
            #expect(try await Self.renew(last.refresh_token, server, http) == nil)
            #expect(server.counts.reuses == 1)
        }
    }
}
