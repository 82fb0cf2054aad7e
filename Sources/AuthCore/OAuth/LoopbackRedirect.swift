/// Where a browser is sent back to: `http`, on this machine, at a port of the system's or a fixed one (RFC 8252 §7.3).
package struct LoopbackRedirect: Sendable, Equatable {
    /// `127.0.0.1`, `::1` or `localhost`.
    package let host: String
    /// `nil`: whichever is free.
    package let port: Int?
    package let path: String

    /// What is registered at the provider where the profile does not say.
    package static let usual = LoopbackRedirect(host: "127.0.0.1", port: nil, path: "/callback")

    /// What it looks like, for a person whose profile says something else.
    package static let expected = "an address of this machine, such as http://127.0.0.1/callback or with a port"

    private init(host: String, port: Int?, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    /// `nil` for anything that leaves this machine or is no plain address.
    package init?(_ text: String) {
        guard let base = try? BaseURL(text), !base.isSecure, base.isLoopback,
            ["127.0.0.1", "::1", "localhost"].contains(base.host), let origin = ProviderOrigin(of: text)
        else { return nil }
        let written = base.host.contains(":") ? "http://[\(base.host)]" : "http://\(base.host)"
        let after = origin.text.dropFirst(written.count)
        let path = text.dropFirst(origin.text.count)
        self.init(host: base.host, port: Int(after.dropFirst()), path: path.isEmpty ? "/" : String(path))
    }

    /// As the provider gets it.
    /// - Parameter port: the one that is listened on; `nil` where nobody listens.
    package func uri(port: Int?) -> String {
        let written = host.contains(":") ? "[\(host)]" : host
        return "http://" + written + (port ?? self.port).map { ":\($0)" }.orEmpty + path
    }
}

extension String? {
    fileprivate var orEmpty: String { self ?? "" }
}
