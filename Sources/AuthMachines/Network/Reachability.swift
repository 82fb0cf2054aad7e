package import AuthModel
package import AuthWire

/// How an origin answered last.
package enum Reachability: Sendable, Equatable {
    /// - Parameter isProven: by its certificate, so that nobody on the way can have answered in its stead.
    case reached(isProven: Bool)
    /// Somebody else answered over plain HTTP: a page for people, or the way to one.
    case page
    /// Whoever answered has no certificate for that name.
    case foreignCertificate
    /// The kind and the cause of the error.
    case unreached(ErrorKind, cause: String?)

    /// A portal answers like this; so does a provider that is set up wrongly.
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
    /// What an answer says about who gave it.
    package init(_ reply: HTTPResponse, from origin: Origin) {
        if origin.isSecure {
            self = .reached(isProven: true)
            return
        }
        let type = reply.header("Content-Type")?.lowercased() ?? ""
        let isPage = type.hasPrefix("text/html") || (type.isEmpty && reply.body.first == UInt8(ascii: "<"))
        // RFC 6585 §6: a network's own word that it wants something first.
        let isIntercepted = reply.status == 511 || ((200..<300).contains(reply.status) && isPage)
        self = isIntercepted ? .page : .reached(isProven: false)
    }

    /// What a real call's failure says. `nil`: nothing about the network.
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
