import AuthWire

/// Shows the current sessions on the terminal's alternate screen, which preserves the main screen.
struct LiveView: WatchView {
    private var state = WatchedState()
    private var isOpen = false

    private static let open = "\u{1B}[?1049h\u{1B}[?25l"
    private static let close = "\u{1B}[?25h\u{1B}[?1049l"
    private static let home = "\u{1B}[H"
    private static let clearLine = "\u{1B}[K"
    private static let clearRest = "\u{1B}[J"

    var isCountingDown: Bool {
        let now = WallClock.now
        return state.inOrder.contains { StatusCard(status: $0, now: now, screen: .current).isCountingDown }
    }

    mutating func show(_ event: AgentEvent?) throws(Failure) {
        if let event { state.apply(event) }
        let screen = Screen.current
        let lines = lines(screen).map { $0 + Self.clearLine }.joined(separator: "\r\n")
        try Output.raw((isOpen ? "" : Self.open) + Self.home + lines + Self.clearRest)
        isOpen = true
    }

    mutating func leave() {
        guard isOpen else { return }
        isOpen = false
        try? Output.raw(Self.close)
    }

    private func lines(_ screen: Screen) -> [String] {
        let now = WallClock.now
        var lines: [String] = []
        for status in state.inOrder {
            lines += StatusCard(status: status, now: now, screen: screen).lines + [""]
        }
        if state.inOrder.isEmpty { lines += ["There are no sessions.", ""] }
        lines += Layout.wrapped(footer(now), on: screen).map { screen.paint($0, .dim) }
        // More lines would scroll the default session away.
        return Array(lines.prefix(screen.height))
    }

    private func footer(_ now: Double) -> String {
        if state.isDisconnected { return "authd is not running; this view continues when it is. ^C ends" }
        var parts: [String] = []
        if let network = state.network { parts.append("network \(network.state.rawValue)") }
        if let store = state.store { parts.append("store \(StatusCard.spaced(store.state.rawValue))") }
        return Visible.line((parts + ["^C ends"]).joined(separator: " · "))
    }
}
