import AuthModel

/// Chooses the proxy for a request: from the settings, then from the variables that curl reads.
///
/// Like curl, it does not read `HTTP_PROXY` in upper case: under CGI, any visitor can set that variable with a header `Proxy:`,
/// and so read the requests (CVE-2016-5385).
struct ProxyRules: Sendable {
    enum Route: Hashable, Sendable {
        case direct
        case proxy(ProxyServer)
    }

    private let http: Result<Route, ProxyServer.Unusable>
    private let https: Result<Route, ProxyServer.Unusable>
    private let exceptions: ProxyExceptions

    /// - Parameters:
    ///   - setting: the proxy for all requests; empty or `none` means no proxy, whatever the environment says.
    ///   - noProxy: replaces the variable `no_proxy` unless it is empty.
    /// - Throws: if the *setting* cannot be used. If a variable cannot be used, requests that need it fail, so that none
    ///   bypasses a proxy silently.
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
