import AuthModel

/// Which way a request takes: the settings first, then the variables that curl knows.
///
/// `HTTP_PROXY` in upper case is not read, as curl does not: where a program runs under CGI, that variable is made of a
/// header `Proxy:` sent by any visitor, who could so read our requests (CVE-2016-5385).
struct ProxyRules: Sendable {
    enum Route: Hashable, Sendable {
        case direct
        case proxy(ProxyServer)
    }

    private let http: Result<Route, ProxyServer.Unusable>
    private let https: Result<Route, ProxyServer.Unusable>
    private let exceptions: ProxyExceptions

    /// - Parameters:
    ///   - setting: the proxy for everything; empty or `none` means no proxy, whatever the environment says.
    ///   - noProxy: takes the place of the variable `no_proxy` unless empty.
    /// - Throws: when the *setting* is unusable. A variable that is fails the requests that would need it, so that
    ///   nothing goes around a proxy in silence.
    init(setting: String?, noProxy: [String], environment: [String: String]) throws(TransportSettingsError) {
        func variable(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        }
        exceptions = ProxyExceptions(noProxy.isEmpty ? [variable("no_proxy", "NO_PROXY") ?? ""] : noProxy)
        if let setting {
            do {
                http = .success(try Self.route(setting))
            } catch {
                throw TransportSettingsError(setting: "http.proxy", reason: error.reason)
            }
            https = http
        } else {
            let all = variable("all_proxy", "ALL_PROXY") ?? ""
            http = Self.attempt(variable("http_proxy") ?? all)
            https = Self.attempt(variable("https_proxy", "HTTPS_PROXY") ?? all)
        }
    }

    func route(to origin: Origin) throws(TransportError) -> Route {
        if exceptions.cover(origin) { return .direct }
        switch origin.isSecure ? https : http {
        case .success(let route): return route
        case .failure(let unusable):
            throw .proxy(reason: "the proxy of the environment cannot be used: \(unusable.reason)")
        }
    }

    private static func route(_ text: String) throws(ProxyServer.Unusable) -> Route {
        text.isEmpty || text == "none" ? .direct : .proxy(try ProxyServer(text))
    }

    private static func attempt(_ text: String) -> Result<Route, ProxyServer.Unusable> {
        do { return .success(try route(text)) } catch { return .failure(error) }
    }
}
