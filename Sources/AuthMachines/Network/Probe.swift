package import AuthModel
internal import AuthWire

/// A small request to an origin, without credentials, to find out who answers.
package struct Probe: Sendable, Hashable {
    package let origin: Origin
    package let url: String

    /// A network that takes longer is not usable.
    package static let limit = Duration.seconds(3)

    /// - Parameter path: one that the provider answers with JSON; over HTTPS the certificate shows who answers, and any path
    ///   will do.
    package init(_ origin: Origin, path: String? = nil) {
        self.origin = origin
        url = origin.text + (origin.isSecure ? "/" : path ?? "/")
    }

    package var request: HTTPRequest {
        var request = HTTPRequest(method: "GET", url: url, headers: [HTTPField("Accept", "application/json")])
        request.followsRedirects = false
        request.limit = Self.limit
        return request
    }

    package func reading(_ reply: HTTPResponse) -> Reachability {
        if !origin.isSecure, leadsElsewhere(reply) { return .page }
        return Reachability(reply, from: origin)
    }

    package func reading(_ error: TransportError) -> Reachability {
        if case .redirected(let target) = error {
            // The same host, usually with https instead of http: the provider's own redirect.
            return Origin(of: target)?.host == origin.host ? .reached(isProven: false) : .page
        }
        return Reachability(error) ?? .unreached(.providerUnreachable, cause: "cancelled")
    }

    private func leadsElsewhere(_ reply: HTTPResponse) -> Bool {
        guard (300..<400).contains(reply.status), let location = reply.header("Location") else { return false }
        guard let target = Origin(of: location) else { return false }
        return target.host != origin.host
    }
}
