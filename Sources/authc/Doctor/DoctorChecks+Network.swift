import AuthWire

/// The network, and what the responses of providers have shown.
extension DoctorChecks {
    static func network(_ network: NetworkStatus) -> Finding {
        switch network.state {
        case .online: .ok(.network, "online")
        case .limited:
            .warning(
                .network, "limited: there is no route to all of the Internet",
                hint: "`ip route` shows whether there is a default route; authd still uses providers that answer")
        case .portal:
            .problem(
                .network, .temporary, "the network shows its sign-in page",
                hint: "`xdg-open http://example.com` opens its page: sign in there; authd continues by itself")
        case .offline:
            .problem(
                .network, .temporary, "offline: this machine has no network connection",
                hint: "`nmcli device status` or `ip link` shows what can be connected; authd continues by itself")
        }
    }

    /// The providers that did not respond last time, except for problems that ``network(_:)`` reports.
    static func unreachable(_ network: NetworkStatus) -> [String] {
        network.providers.filter { $0.value != NetworkStatus.reachable && !isNetworkProblem(network, $0.value) }
            .keys.sorted()
    }

    /// Whether each provider with a session was reached last time.
    /// - Parameter addresses: the URLs of providers.
    static func providers(_ network: NetworkStatus, addresses: [String: String]) -> [Finding] {
        let reached = network.providers.filter { $0.value == NetworkStatus.reachable }.keys.sorted()
        let ok = Finding.ok(.providers, "reached: " + reached.joined(separator: ", "))
        return (reached.isEmpty ? [] : [ok.shortened("reached: " + FindingGroups.names(reached))])
            + unreachable(network).map { provider in
                let found = StatusCard.spaced(network.providers[provider] ?? "")
                let check =
                    addresses[provider].map { "`curl -I \(ShellWord.quoted($0))` tests its address" }
                    ?? "`\(CommandText.authc(["provider", "show", provider]))` shows its address"
                return .problem(
                    .providers, .temporary, "\(provider): \(found)",
                    hint: check + "; it may need a VPN or a proxy ([http] in authd.toml)"
                ).about(provider, found, hint: check, list: allProviders)
            }
    }

    private static let allProviders = "`authc network` shows all"

    private static func isNetworkProblem(_ network: NetworkStatus, _ kind: String) -> Bool {
        network.state == .offline || network.state == .portal && kind == ErrorKind.captivePortal.rawValue
    }

    static func clock(_ network: NetworkStatus) -> [Finding] {
        let skews = network.clockSkews.sorted { $0.key < $1.key }
        guard skews.isEmpty else {
            return skews.map { provider, skew in
                .warning(
                    .clock, StatusCard.skewText(skew, of: provider),
                    hint: "\(StatusCard.skewHint); a wrong clock does not shorten the life of tokens"
                ).about(provider, "the clock differs from this machine's", list: allProviders)
            }
        }
        guard network.providers.values.contains(NetworkStatus.reachable) else {
            return [.note(.clock, "no provider has sent its time yet")]
        }
        return [.ok(.clock, "within a minute of every provider's clock")]
    }
}
