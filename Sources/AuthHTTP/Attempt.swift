import AsyncHTTPClient
import AuthModel
import AuthWire
import Glibc
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

/// Maps the errors of one attempt to reach an origin.
///
/// The texts of the libraries are not used, because some of them repeat headers and addresses.
struct Attempt {
    let origin: Origin
    let route: ProxyRules.Route
    let limits: TransportLimits

    func meaning(of error: any Error) -> TransportError {
        switch error {
        case let error as TransportError: error
        case is CancellationError: .cancelled
        case let error as HTTPClientError: meaning(of: error)
        case let error as NIOConnectionError: meaning(of: error)
        case let error as IOError: connecting([error])
        case ChannelError.connectTimeout: notConnected
        case ChannelError.eof: lost("the other side closed it")
        case NIOHTTPDecompression.DecompressionError.limit: .tooLarge(limit: limits.bodyBytes)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            lost("the compressed body of the response is damaged")
        case let error as HTTPParserError:
            switch error {
            case .invalidEOFState: lost("it ended within the response")
            case .headerOverflow: lost("the headers of the response are too large")
            default: lost("the response is not HTTP")
            }
        case let error as NIOSSLError: meaning(of: error)
        case is NIOSSLExtraError: certificate("the certificate is not for this host name")
        case let error as BoringSSLError: handshake(error)
        default: lost("it failed (\(type(of: error)))")
        }
    }

    // MARK: - The client library

    private func meaning(of error: HTTPClientError) -> TransportError {
        switch error {
        case .cancelled, .alreadyShutdown, .requestStreamCancelled: .cancelled
        case .connectTimeout, .getConnectionFromPoolTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            notConnected
        case .tlsHandshakeTimeout: timedOut(after: limits.connect)
        case .readTimeout, .writeTimeout: timedOut(after: limits.silence)
        case .deadlineExceeded: timedOut(after: limits.total)
        case .remoteConnectionClosed: lost("the other side closed it")
        case .uncleanShutdown: lost("it was closed without a TLS close_notify")
        case .invalidProxyResponse: throughProxy("it refused to connect to \(origin.host)")
        case .proxyAuthenticationRequired:
            throughProxy("it requires a user name and a password, or refused them")
        case .invalidURL, .emptyHost, .emptyScheme: .badURL(reason: "the address cannot be read")
        default: .badURL(reason: "the request's method or headers cannot be sent")
        }
    }

    // MARK: - Connecting

    private func meaning(of error: NIOConnectionError) -> TransportError {
        if !error.connectionErrors.isEmpty { return connecting(error.connectionErrors.map(\.error)) }
        if error.dnsAError != nil || error.dnsAAAAError != nil {
            if case .proxy(let proxy) = route { return .proxy(reason: "the name of the proxy \(proxy) is not known") }
            return .nameNotResolved(host: origin.host)
        }
        return lost("no address could be tried")
    }

    /// Several addresses may have failed with different errors. A refusal is more useful than a missing route: a machine
    /// without IPv6 has no route to half of the addresses.
    private func connecting(_ errors: [any Error]) -> TransportError {
        let codes = errors.compactMap { ($0 as? IOError)?.errnoCode }
        if codes.contains(ECONNREFUSED) {
            if case .proxy(let proxy) = route { return .proxy(reason: "the proxy \(proxy) refused the connection") }
            return .connectionRefused(host: origin.host)
        }
        if codes.contains(ETIMEDOUT) || errors.contains(where: { $0 is ChannelError }) { return notConnected }
        if !codes.isEmpty, codes.allSatisfy(Self.noRoute.contains) {
            return .offline(reason: "there is no route to \(peer)")
        }
        let code = codes.first { !Self.noRoute.contains($0) }
        return switch code {
        case ECONNRESET, EPIPE: lost("the other side reset it")
        case let code?: lost(SystemError.text(code))
        case nil: lost("it failed")
        }
    }

    private static let noRoute: Set<CInt> = [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL]

    // MARK: - TLS

    private func meaning(of error: NIOSSLError) -> TransportError {
        switch error {
        case .handshakeFailed(let inner): handshake(inner)
        case .unableToValidateCertificate, .noCertificateToValidate: certificate(Self.unverified)
        case .uncleanShutdown: lost("it was closed without a TLS close_notify")
        default: tls("the handshake failed")
        }
    }

    private static let unverified =
        "the certificate is not signed by a trusted authority, or has expired (check the clock)"

    /// The library has its reasons only as text, such as `CERTIFICATE_VERIFY_FAILED`.
    private func handshake(_ error: BoringSSLError) -> TransportError {
        let reason = Self.reason(error)
        return reason == Self.unverified ? certificate(reason) : tls(reason)
    }

    private static func reason(_ error: BoringSSLError) -> String {
        let stack =
            switch error {
            case .sslError(let stack), .unknownError(let stack): stack.map(\.description).joined(separator: " ")
            default: ""
            }
        if stack.contains("CERTIFICATE_VERIFY_FAILED") { return unverified }
        if stack.contains("WRONG_VERSION_NUMBER") || stack.contains("HTTP_REQUEST") {
            return "the other side does not use TLS"
        }
        if stack.contains("PROTOCOL_VERSION") { return "the other side does not support TLS 1.2 or later" }
        if stack.contains("HANDSHAKE_FAILURE") { return "there is no common cipher" }
        return "the handshake failed"
    }

    // MARK: - Errors

    private var peer: String {
        switch route {
        case .direct: origin.host
        case .proxy(let proxy): "the proxy \(proxy)"
        }
    }

    private var notConnected: TransportError {
        switch route {
        case .direct: timedOut(after: limits.connect)
        case .proxy: throughProxy("it did not connect within \(Int(limits.connect.seconds.rounded(.up))) s")
        }
    }

    private func timedOut(after limit: Duration) -> TransportError { .timedOut(host: origin.host, after: limit) }
    private func lost(_ reason: String) -> TransportError { .connectionLost(host: origin.host, reason: reason) }
    private func certificate(_ reason: String) -> TransportError { .certificate(host: origin.host, reason: reason) }
    private func tls(_ reason: String) -> TransportError { .tls(host: origin.host, reason: reason) }

    private func throughProxy(_ reason: String) -> TransportError { .proxy(reason: "\(peer): \(reason)") }
}
