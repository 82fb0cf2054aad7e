/// How providers are reached.
package struct HTTPSettings: Sendable, Equatable {
    /// One of ``proxySchemes`` with host and port, or `none`; `nil`: from the environment (`https_proxy`, `http_proxy`,
    /// `all_proxy`).
    package var proxy: String?
    /// Hosts and domains that are reached without the proxy.
    package var noProxy: [String] = []
    /// A PEM file of trusted CAs, in addition to the system's.
    package var caFile: String?
    /// The longest silence of a provider: before its response begins, and between two parts of it.
    package var requestTimeout = Self.defaultRequestTimeout
    /// Until the response is complete.
    package var totalTimeout = Self.defaultTotalTimeout
    package var connectTimeout = Self.defaultConnectTimeout

    /// With `socks5` and `socks5h` alike, the proxy resolves names. The HTTP library does not support proxies with TLS.
    package static let proxySchemes = ["http", "socks5", "socks5h"]

    package static let defaultRequestTimeout = Duration.seconds(30)
    package static let defaultTotalTimeout = Duration.seconds(60)
    package static let defaultConnectTimeout = Duration.seconds(10)

    package init() {}
}
