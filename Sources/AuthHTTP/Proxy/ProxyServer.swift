import FoundationEssentials

/// A proxy in a setting or a variable: `[http://|socks5://|socks5h://][user:password@]host[:port]`.
///
/// A SOCKS proxy always resolves names itself.
struct ProxyServer: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable { case http, socks5 }

    let kind: Kind
    let host: String
    let port: Int
    let user: String?
    let password: String?

    /// Why a proxy cannot be used. Never quotes the text, which may have a password.
    struct Unusable: Error { let reason: String }

    init(_ text: String) throws(Unusable) {
        let full = text.contains("://") ? text : "http://" + text
        guard let url = URL(string: full), let scheme = url.scheme?.lowercased() else {
            throw Unusable(reason: "it does not have the form http://host:port")
        }
        switch scheme {
        case "http": kind = .http
        case "socks5", "socks5h": kind = .socks5
        case "https":
            throw Unusable(reason: "a connection to the proxy over TLS is not supported; use its http:// port")
        default: throw Unusable(reason: "the scheme of a proxy must be http, socks5 or socks5h")
        }
        guard var host = url.host(percentEncoded: false), !host.isEmpty else {
            throw Unusable(reason: "it has no host")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let port = url.port ?? (kind == .http ? 80 : 1080)
        guard (1...65535).contains(port) else { throw Unusable(reason: "its port is out of range") }
        user = url.user(percentEncoded: false)
        password = url.password(percentEncoded: false)
        guard kind == .http || user == nil else {
            throw Unusable(reason: "a user name for a SOCKS proxy is not supported")
        }
        self.host = host
        self.port = port
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
