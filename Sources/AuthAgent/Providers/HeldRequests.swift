import AuthModel
import Synchronization

/// The requests of a renewal that other hosts must not make at the same time: whether the next one may begin, and whether
/// the provider may have received one.
final class HeldRequests: Sendable {
    private let permission: @Sendable () async -> Bool
    /// Requests with what the provider may use up, without those that are known not to have been sent.
    private let sent = Mutex(0)

    init(mayBegin: @escaping @Sendable () async -> Bool) {
        permission = mayBegin
    }

    /// Otherwise the provider has used nothing up, whatever the renewal has ended with.
    var mayBeReceived: Bool { sent.withLock { $0 > 0 } }

    func mayBegin() async -> Bool { await permission() }

    func began(_ request: HTTPRequest) {
        if Self.counts(request) { sent.withLock { $0 += 1 } }
    }

    func failed(_ request: HTTPRequest, _ error: TransportError) {
        if error.showsNothingWasSent, Self.counts(request) { sent.withLock { $0 -= 1 } }
    }

    /// Fetching what a server publishes sends nothing of the session. A cookie may be its refresh token.
    private static func counts(_ request: HTTPRequest) -> Bool {
        request.method != "GET" || !request.carries.isEmpty
            || request.headers.contains { $0.name.lowercased() == "cookie" }
    }
}
