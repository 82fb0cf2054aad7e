/// A redirect address on this machine, at a fixed port or at any free one (RFC 8252 §7.3).
package struct LoopbackRedirect: Sendable, Equatable {
    /// Uses TLS: no RFC requires that on this machine, but some providers do.
    package let isSecure: Bool
    /// `127.0.0.1`, `::1` or `localhost`.
    package let host: String
    /// `nil`: any free port.
    package let port: Int?
    package let path: String

    /// The redirect that is registered at the provider if the profile names none.
    package static let usual = LoopbackRedirect(isSecure: false, host: "127.0.0.1", port: nil, path: "/callback")

    /// The address that the provider receives.
    /// - Parameter port: the bound port; `nil` if there is no listener.
    package func uri(port: Int?) -> String {
        let suffix = (port ?? self.port).map { ":\($0)" } ?? ""
        return Self.start(isSecure, host) + suffix + path
    }

    private static func start(_ isSecure: Bool, _ host: String) -> String {
        (isSecure ? "https://" : "http://") + (host.contains(":") ? "[\(host)]" : host)
    }
}

extension LoopbackRedirect {
    /// `nil` if the address leads to another machine or is malformed.
    package init?(_ text: String) {
        guard let base = try? BaseURL(text), base.isLoopback,
            ["127.0.0.1", "::1", "localhost"].contains(base.host)
        else { return nil }
        let afterHost = base.text.dropFirst(Self.start(base.isSecure, base.host).count)
        let path = Origin.path(of: text)
        self.init(
            isSecure: base.isSecure, host: base.host, port: Int(afterHost.prefix { $0 != "/" }.dropFirst()),
            path: path.isEmpty ? "/" : String(path))
    }
}
