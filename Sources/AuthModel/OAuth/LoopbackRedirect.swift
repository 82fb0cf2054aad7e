/// Where a browser is sent back to on this machine, at a port of the system's or a fixed one (RFC 8252 §7.3).
package struct LoopbackRedirect: Sendable, Equatable {
    /// By TLS: no RFC asks for that on this machine, and some providers do.
    package let isSecure: Bool
    /// `127.0.0.1`, `::1` or `localhost`.
    package let host: String
    /// `nil`: whichever is free.
    package let port: Int?
    package let path: String

    /// What is registered at the provider where the profile does not say.
    package static let usual = LoopbackRedirect(isSecure: false, host: "127.0.0.1", port: nil, path: "/callback")

    private init(isSecure: Bool, host: String, port: Int?, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// `nil` for anything that leaves this machine or is no plain address.
    package init?(_ text: String) {
        guard let base = try? BaseURL(text), base.isLoopback,
            ["127.0.0.1", "::1", "localhost"].contains(base.host), let origin = ProviderOrigin(of: text)
        else { return nil }
        let written = Self.start(base.isSecure, base.host)
        let after = origin.text.dropFirst(written.count)
        let path = text.dropFirst(origin.text.count)
        self.init(
            isSecure: base.isSecure, host: base.host, port: Int(after.dropFirst()),
            path: path.isEmpty ? "/" : String(path))
    }

    /// As the provider gets it.
    /// - Parameter port: the one that is listened on; `nil` where nobody listens.
    package func uri(port: Int?) -> String {
        Self.start(isSecure, host) + (port ?? self.port).map { ":\($0)" }.orEmpty + path
    }

    private static func start(_ isSecure: Bool, _ host: String) -> String {
        (isSecure ? "https://" : "http://") + (host.contains(":") ? "[\(host)]" : host)
    }
}

extension String? {
    fileprivate var orEmpty: String { self ?? "" }
}
