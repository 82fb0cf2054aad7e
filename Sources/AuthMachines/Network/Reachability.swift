package import AuthModel
package import AuthWire

/// The last result of an origin.
package enum Reachability: Sendable, Equatable {
    /// - Parameter isProven: by its certificate, so that no other host can have answered.
    case reached(isProven: Bool)
    /// Another host answered over plain HTTP: an HTML page, or a redirect to one.
    case page
    /// The server has no certificate for that name.
    case foreignCertificate
    /// The kind and the cause of the error.
    case unreached(ErrorKind, cause: String?)

    /// A portal answers like this; so does a misconfigured provider.
    var looksIntercepted: Bool {
        switch self {
        case .page, .foreignCertificate: true
        case .reached, .unreached: false
        }
    }

    package var isReached: Bool {
        if case .reached = self { true } else { false }
    }
}

extension Reachability {
    /// What a response says about its sender.
    package init(_ reply: HTTPResponse, from origin: Origin) {
        if origin.isSecure {
            self = .reached(isProven: true)
            return
        }
        let type = reply.header("Content-Type")?.lowercased() ?? ""
        let isPage = type.hasPrefix("text/html") || (type.isEmpty && reply.body.first == UInt8(ascii: "<"))
        // RFC 6585 §6: the network requires authentication.
        let isIntercepted = reply.status == 511 || ((200..<300).contains(reply.status) && isPage)
        self = isIntercepted ? .page : .reached(isProven: false)
    }

    /// What a failed call says about the network; `nil`: nothing.
    package init?(_ error: TransportError) {
        switch error {
        case .certificate: self = .foreignCertificate
        case .cancelled, .badURL: return nil
        case .tooLarge: self = .reached(isProven: false)
        case .redirected: self = .page
        case .offline, .nameNotResolved, .connectionRefused, .timedOut, .tls, .connectionLost, .proxy, .portal:
            let meaning = ProviderFailure(error).error
            self = .unreached(
                meaning.kind == .offline ? .offline : .providerUnreachable, cause: meaning.cause)
        }
    }
}
