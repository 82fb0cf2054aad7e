import AuthWire

/// For `network --watch`: a line with the state and each provider for each change.
struct NetworkLines: WatchView {
    mutating func show(_ event: AgentEvent?) throws(Failure) {
        guard let event else { return }
        let time = WallClock.text(event.at, now: WallClock.now, withSeconds: true)
        let known = event.network ?? event.snapshot?["network"].flatMap { try? NetworkStatus($0) }
        if let known {
            let providers = known.providers.sorted { $0.key < $1.key }.map {
                "\($0.key) \(StatusCard.spaced($0.value))"
            }
            let text = ([known.state.rawValue] + Self.metered(known) + providers).joined(separator: ", ")
            try Output.result(Visible.line("\(time) \(text)"))
        } else if event.topic == .agent {
            try Output.result(Visible.line("\(time) authd is not running"))
        }
    }

    static func metered(_ network: NetworkStatus) -> [String] {
        guard network.isMetered else { return [] }
        return network.transfersWait ? ["metered: queued writes and streams wait"] : ["metered"]
    }
}
