import AuthWire

/// The network, and what was learnt from the providers.
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
                hint: "open any http:// page in a browser and sign in to the network; authd continues by itself")
        case .offline:
            .problem(
                .network, .temporary, "offline: this machine has no network connection",
                hint: "connect it; authd continues by itself")
        }
    }

    /// Whether each provider with a session was reached last time, except for problems that ``network(_:)`` reports.
    static func providers(_ network: NetworkStatus) -> [Finding] {
        let known = network.providers.sorted { $0.key < $1.key }
        let reached = known.filter { $0.value == NetworkStatus.reachable }.map(\.key)
        let others = known.filter { $0.value != NetworkStatus.reachable && !isNetworkProblem(network, $0.value) }
        let ok = Finding.ok(.providers, "reached: " + reached.joined(separator: ", "))
        return (reached.isEmpty ? [] : [ok.shortened("reached: " + FindingGroups.names(reached))])
            + others.map { provider, kind in
                .problem(
                    .providers, .temporary, "\(provider): \(StatusCard.spaced(kind))",
                    hint: "check whether it needs a VPN or a proxy (authd.toml, [http]); authd retries by itself"
                ).about(provider, StatusCard.spaced(kind), list: allProviders)
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
                    hint: "\(StatusCard.skewHint); it does not shorten the life of tokens"
                ).about(provider, "the clock differs from this machine's", list: allProviders)
            }
        }
        guard network.providers.values.contains(NetworkStatus.reachable) else {
            return [.note(.clock, "no provider has sent its time yet")]
        }
        return [.ok(.clock, "within a minute of every provider's clock")]
    }
}
