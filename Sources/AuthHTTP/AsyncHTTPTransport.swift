import AsyncHTTPClient
package import AuthModel
import FoundationEssentials
package import NIOCore
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// The agent's HTTP client: a pool of connections for each origin and route, on shared event loops.
///
/// ``shutdown()`` must be called once before the last reference is released.
package final class AsyncHTTPTransport: HTTPLiveTransport {
    package struct Configuration: Sendable {
        package var version: String
        package var limits: TransportLimits
        /// The proxy for all requests; `nil` uses the environment, empty or `none` means no proxy.
        package var proxy: String?
        /// Hosts without a proxy; empty uses the environment.
        package var noProxy: [String]
        /// Trusted certificates (PEM), in addition to the system's and those of `SSL_CERT_FILE`.
        package var extraCAFile: String?
        package var environment: [String: String]
        /// Only the certificates of ``extraCAFile`` are trusted.
        package var trustsOnlyExtraCA = false
        /// The client's certificate.
        package var identity: ClientCertificate?
        /// Whether responses that are read while they arrive may come with HTTP/2.
        package var offersHTTP2 = true

        package init(
            version: String, limits: TransportLimits = TransportLimits(), proxy: String? = nil, noProxy: [String] = [],
            extraCAFile: String? = nil, environment: [String: String] = [:]
        ) {
            self.version = version
            self.limits = limits
            self.proxy = proxy
            self.noProxy = noProxy
            self.extraCAFile = extraCAFile
            self.environment = environment
        }

        /// The settings of the user; other limits have their defaults.
        package init(version: String, settings: HTTPSettings, environment: [String: String]) {
            var limits = TransportLimits()
            limits.connect = settings.connectTimeout
            limits.silence = settings.requestTimeout
            limits.total = settings.totalTimeout
            self.init(
                version: version, limits: limits, proxy: settings.proxy, noProxy: settings.noProxy,
                extraCAFile: settings.caFile, environment: environment)
        }
    }

    /// Variables of the environment that could not be used, for the log.
    package let notices: [String]

    let limits: TransportLimits
    let userAgent: String
    let proxies: ProxyRules
    let roots: TrustRoots
    private let group: any EventLoopGroup
    private let pool: ClientPool
    /// For streamed requests, which are long and have their own time limit, so that others need not wait for them.
    private let streams: ClientPool
    /// For responses that are read while they arrive. These may use HTTP/2. The agent itself has none.
    let live: ClientPool
    /// For ``connect(to:on:)``, once it was needed.
    let tlsContext = Mutex<NIOSSLContext?>(nil)

    /// - Throws: if the proxy or the file of certificates cannot be used.
    package init(_ configuration: Configuration, group: any EventLoopGroup) throws(TransportSettingsError) {
        let limits = configuration.limits
        let roots = try TrustRoots(
            extraCAFile: configuration.extraCAFile, isOnlyRoot: configuration.trustsOnlyExtraCA,
            identity: configuration.identity, environment: configuration.environment)
        let version: HTTPClient.Configuration.HTTPVersion = configuration.offersHTTP2 ? .automatic : .http1Only
        proxies = try ProxyRules(
            setting: configuration.proxy, noProxy: configuration.noProxy, environment: configuration.environment)
        notices = roots.notices
        self.roots = roots
        self.limits = limits
        userAgent = "authd/\(configuration.version)"
        self.group = group
        pool = ClientPool(group: group) {
            HTTPClient.Configuration(limits: limits, roots: roots, route: $0, origin: $1)
        }
        streams = ClientPool(group: group) { route, origin in
            var configuration = HTTPClient.Configuration(limits: limits, roots: roots, route: route, origin: origin)
            // A client may be slow. ``StallDetector`` notices a provider that stops.
            configuration.timeout.read = nil
            configuration.timeout.write = nil
            return configuration
        }
        live = ClientPool(group: group) { route, origin in
            var configuration = HTTPClient.Configuration(limits: limits, roots: roots, route: route, origin: origin)
            // Silence is normal between two events.
            configuration.timeout.read = nil
            configuration.timeout.write = nil
            configuration.decompression = .disabled
            configuration.http1_1ConnectionDebugInitializer = { channel in
                PeerName.check(channel, of: origin).flatMap { Self.keepAlive(channel, limits.keepAlive) }
            }
            configuration.httpVersion = version
            configuration.http2ConnectionDebugInitializer = { channel in
                PeerName.check(channel, of: origin).flatMap { Self.keepAlive(channel, limits.keepAlive) }
                    .flatMap { ConnectionErrorHandler.add(channel) }
            }
            return configuration
        }
    }

    package func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        guard let url = URL(string: request.url) else { throw .badURL(reason: "the address cannot be read") }
        let origin = try Origin(sending: request.url)
        let route = try proxies.route(to: origin)
        let pool = request.streams ? streams : pool
        guard let lease = pool.borrow(route, to: origin, closes: request.closesConnection) else { throw .cancelled }
        let exchange = Exchange(
            client: lease.client, request: request, url: url, userAgent: userAgent,
            attempt: Attempt(origin: origin, route: route, limits: limits), group: group)
        let outcome = await exchange.outcome()
        await pool.release(lease)
        if case .failure(.cancelled) = outcome, !Task.isCancelled, pool.isAbandoned(lease) {
            throw .connectionLost(host: origin.host, reason: "the machine's network has changed")
        }
        return try outcome.get()
    }

    /// Requests in flight keep their connections.
    package func closeIdleConnections() async {
        await pool.renew()
        await streams.renew()
        await live.renew()
    }

    package func closeIdleConnections(to origins: Set<Origin>) async {
        await pool.renew(to: origins)
        await streams.renew(to: origins)
        await live.renew(to: origins)
    }

    package func closeAllConnections() async {
        await pool.abandon()
        await streams.abandon()
        await live.abandon()
    }

    /// Closes all connections. Requests in flight and later ones end as cancelled.
    package func shutdown() async {
        await pool.close()
        await streams.close()
        await live.close()
    }
}

extension Origin {
    /// - Throws: `.badURL`, without the text of the URL, which may hold a password.
    init(sending url: String) throws(TransportError) {
        do { try self.init(url) } catch { throw .badURL(reason: "the address must be \(error.expected)") }
    }

    /// The value of `Host` (RFC 9110 §7.2).
    package var authority: String { String(text.dropFirst(isSecure ? 8 : 7)) }
}

extension HTTPClient.Configuration {
    fileprivate init(limits: TransportLimits, roots: TrustRoots, route: ProxyRules.Route, origin: Origin) {
        self.init(
            tlsConfiguration: roots.tlsConfiguration(closeNotify: TimeAmount(limits.closeNotify)),
            redirectConfiguration: .disallow,
            timeout: Timeout(
                connect: TimeAmount(limits.connect), read: TimeAmount(limits.silence),
                write: TimeAmount(limits.silence)),
            decompression: .enabled(limit: .size(limits.bodyBytes)))
        http1_1ConnectionDebugInitializer = { PeerName.check($0, of: origin) }
        // With HTTP/2 a server can have the library buffer without a limit, before and after an error of the connection.
        httpVersion = .http1Only
        connectionPool.idleTimeout = TimeAmount(limits.idleConnection)
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.connectionsPerOrigin
        // The session decides when to retry, and the first error is better than a time-out.
        connectionPool.retryConnectionEstablishment = false
        guard case .proxy(let server) = route else { return }
        switch server.kind {
        case .socks5: proxy = .socksServer(host: server.host, port: server.port)
        case .http:
            proxy = .server(
                host: server.host, port: server.port,
                authorization: server.user.map { .basic(username: $0, password: server.password ?? "") })
        }
    }
}
