/// How providers are reached.
package struct HTTPSettings: Sendable, Equatable {
    /// One of ``proxySchemes`` with host and port, or `none`; `nil`: as the environment says (`https_proxy`,
    /// `http_proxy`, `all_proxy`).
    package var proxy: String?
    /// Hosts and domains that are reached without it.
    package var noProxy: [String]
    /// A PEM file trusted besides the system's own.
    package var caFile: String?
    /// The longest silence of a provider: before its answer begins, and between two parts of it.
    package var requestTimeout: Duration
    /// Until it is whole.
    package var totalTimeout: Duration
    package var connectTimeout: Duration

    /// With `socks5` and `socks5h` alike the proxy looks names up. A proxy that is itself spoken to over TLS is not one
    /// that the HTTP library can use.
    package static let proxySchemes = ["http", "socks5", "socks5h"]

    package static let defaultRequestTimeout = Duration.seconds(30)
    package static let defaultTotalTimeout = Duration.seconds(60)
    package static let defaultConnectTimeout = Duration.seconds(10)

    package init(
        proxy: String? = nil, noProxy: [String] = [], caFile: String? = nil,
        requestTimeout: Duration = Self.defaultRequestTimeout, totalTimeout: Duration = Self.defaultTotalTimeout,
        connectTimeout: Duration = Self.defaultConnectTimeout
    ) {
        self.proxy = proxy
        self.noProxy = noProxy
        self.caFile = caFile
        self.requestTimeout = requestTimeout
        self.totalTimeout = totalTimeout
        self.connectTimeout = connectTimeout
    }
}
