import AuthModel
import Synchronization

/// The requests of a renewal under the hold of this host, which keeps other hosts from renewing the session: whether
/// the next one may begin, and whether the provider may have received one.
final class HeldRequests: Sendable {
    private let permission: @Sendable () async -> Bool
    /// Requests with credentials of the session, without those that certainly did not arrive.
    private let sent = Mutex(0)

    init(mayBegin: @escaping @Sendable () async -> Bool) {
        permission = mayBegin
    }

    /// Whether the provider may have received such a request. If not, it has used up no refresh token, whatever the
    /// result of the renewal.
    var mayHaveArrived: Bool { sent.withLock { $0 > 0 } }

    func mayBegin() async -> Bool { await permission() }

    func began(_ request: HTTPRequest) {
        if Self.carriesCredentials(request) { sent.withLock { $0 += 1 } }
    }

    func failed(_ request: HTTPRequest, _ error: TransportError) {
        if error.showsNothingWasSent, Self.carriesCredentials(request) { sent.withLock { $0 -= 1 } }
    }

    /// Not if it fetches what a server publishes. A cookie may be the refresh token of its session.
    private static func carriesCredentials(_ request: HTTPRequest) -> Bool {
        request.method != "GET" || !request.carries.isEmpty
            || request.headers.contains { $0.name.lowercased() == "cookie" }
    }
}
