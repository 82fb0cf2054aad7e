package import AuthModel
package import AuthWire
internal import Synchronization

/// Signs the proofs of requests, and remembers the nonces that servers require in them (RFC 9449 §8).
///
/// Invariant: no two proofs are the same.
package final class ProofSigner: Sendable {
    /// How far the clock of an origin is ahead of ours.
    package typealias Skew = @Sendable (Origin) async -> Duration

    /// An authorization server and an API may share an origin, and have different nonces.
    private struct ProofScope: Hashable {
        let origin: Origin
        let isResource: Bool

        init?(_ url: String, _ demand: ProofRequest) {
            guard let origin = Origin(of: url) else { return nil }
            self.origin = origin
            isResource = demand.accessToken != nil
        }
    }

    /// The limit of origins for one agent. An origin that was dropped asks for a nonce again.
    private static let maxPlaces = 256

    let cryptography: (any Cryptography)?
    private let clock: any SystemClock
    private let skew: Skew
    private let nonces = Mutex<[ProofScope: String]>([:])

    /// - Parameter cryptography: `nil`: nothing can be signed.
    package init(cryptography: (any Cryptography)?, clock: any SystemClock, skew: @escaping Skew) {
        self.cryptography = cryptography
        self.clock = clock
        self.skew = skew
    }

    /// The time on the server's clock, as far as that is known.
    package func time(at url: String) async -> WallTime {
        let ahead = if let origin = Origin(of: url) { await skew(origin) } else { Duration.zero }
        return clock.now().wall + ahead
    }

    /// The request with a new proof, if it requires one.
    package func proven(_ request: HTTPRequest) async throws(AgentError) -> HTTPRequest {
        guard let demand = request.proof else { return request }
        var request = request
        request.headers.append(
            HTTPField(
                DPoPProof.header, try await proof(demand, method: request.method, url: request.url).reveal()))
        return request
    }

    /// - Parameter nonce: replaces the last one of that server.
    package func proof(
        _ demand: ProofRequest, method: String, url: String, nonce: String? = nil
    ) async throws(AgentError) -> Secret {
        guard let cryptography else { throw AgentError(.unsupported, "This agent cannot sign requests.") }
        let known = ProofScope(url, demand).flatMap { place in nonces.withLock { $0[place] } }
        return try DPoPProof(
            demand, method: method, url: url, issuedAt: await time(at: url), nonce: nonce ?? known
        ).text(cryptography)
    }

    /// Records the nonce of a response.
    /// - Returns: whether the same request is to be sent once more, with a proof that contains it.
    package func recordNonce(of reply: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard let demand = request.proof, let place = ProofScope(request.url, demand),
            let nonce = DPoPProof.nonce(in: reply)
        else { return false }
        nonces.withLock { nonces in
            if nonces.count >= Self.maxPlaces { nonces = [:] }
            nonces[place] = nonce
        }
        return DPoPProof.asksForNonce(reply)
    }
}
