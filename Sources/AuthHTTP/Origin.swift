import AuthModel
import FoundationEssentials

/// Scheme, host and port: what credentials are sent to (RFC 6454 §4).
struct Origin: Hashable, Sendable, CustomStringConvertible {
    let scheme: String
    /// Lower case, without brackets or a root dot.
    let host: String
    let port: Int

    /// - Throws: `.badURL` for anything but `http` or `https` with a host, and for a URL that carries a password.
    init(of url: URL) throws(TransportError) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw .badURL(reason: "the address is not one of http or https")
        }
        guard var host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty else {
            throw .badURL(reason: "the address names no host")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw .badURL(reason: "the address carries a user name or a password, which belong in a header")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix(".") { host.removeLast() }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65535).contains(port) else { throw .badURL(reason: "the address's port is out of range") }
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}
