import AuthWire

/// Shows a session: account, provider, state and cause, the token's lifetime, and the next renewal.
struct StatusCard {
    let status: SessionStatus
    let now: Double
    let screen: Screen

    /// The longest label and a gap.
    private static let labelColumns = 10
    private static let barColumns = 20

    var lines: [String] {
        // An unknown session has no account and no provider.
        var lines = headline.isEmpty ? [] : Layout.wrapped(headline, on: screen).map { screen.paint($0, .bold) }
        lines += row("session", status.session.text + (status.isDefault ? " (default)" : ""))
        lines += row("state", StatusCard.stateText(status), colour: stateColour)
        if let since = status.lockedSince {
            lines += row("lock", "locked since \(WallClock.text(since, now: now)): `authc unlock`", colour: .yellow)
        }
        if let reason = status.message ?? status.lastError, status.state != .active {
            lines += rows("", reason)
        }
        lines += token
        if let renewal { lines += row("renewal", renewal) }
        if status.remembered {
            let logout = status.isDefault ? "`authc logout`" : "`authc logout -s \(status.session)`"
            lines += row("", "with the stored sign-in; \(logout) deletes it")
        }
        if let shared = status.sharedSession { lines += row("sign-in", "shared with session \(shared)") }
        if let store = status.store { lines += row("store", StatusCard.storeName(store)) }
        if let scopes = status.scopes, !scopes.isEmpty { lines += row("scopes", scopes.joined(separator: " ")) }
        for warning in warnings { lines += rows(screen.isUnicode ? "⚠" : "!", warning, colour: .yellow) }
        return lines
    }

    var text: String { lines.joined(separator: "\n") }

    private var headline: String {
        var text = StatusCard.who(status)
        text += text.isEmpty ? status.provider : " at " + status.provider
        if let environment = status.environment { text += " (\(environment))" }
        return Visible.line(text)
    }

    /// The account's e-mail address, name or id.
    static func who(_ status: SessionStatus) -> String {
        guard let user = status.user else { return "" }
        return user.email ?? user.name ?? user.id ?? ""
    }

    /// The state, and its cause if that is another word.
    static func stateText(_ status: SessionStatus) -> String {
        let state = stateName(status.state)
        guard let cause = status.cause, cause != status.state.rawValue else { return state }
        return state + ": " + spaced(cause)
    }

    static func stateName(_ state: SessionState) -> String {
        spaced(state.rawValue)
    }

    static func storeName(_ store: StoreKind) -> String {
        switch store {
        case .secretService: "keyring"
        case .sealedFile: "sealed file"
        case .etcd: "etcd"
        case .memory: "memory only: lost when authd ends"
        }
    }

    static func spaced(_ word: String) -> String {
        String(word.map { $0 == "_" ? " " : $0 })
    }

    static func colour(_ state: SessionState) -> Screen.Colour {
        switch state {
        case .active: .green
        case .stale, .keyringLocked, .signingIn: .yellow
        case .signInRequired: .red
        case .signedOut: .dim
        }
    }

    static func skewText(_ skew: Duration, of provider: String) -> String {
        let direction = skew > .zero ? "behind" : "ahead of"
        return
            "this machine's clock is \(Span.text(skew > .zero ? skew : .zero - skew)) \(direction) that of \(provider)"
    }

    static let skewHint = "`timedatectl` shows whether the network sets the clock"

    private var stateColour: Screen.Colour { StatusCard.colour(status.state) }

    private var token: [String] {
        guard status.state != .signedOut else { return [] }
        guard let end = status.expiresAt else {
            return status.state == .active ? row("token", "expiry unknown") : []
        }
        guard end > now else { return row("token", "expired \(Span.text(seconds: now - end)) ago", colour: .yellow) }
        var left = Span.text(seconds: end - now) + " left"
        let bar = TokenProgressBar(start: status.issuedAt ?? status.signedInAt, end: end, now: now)
        guard let bar else { return row("token", left) }
        if let start = status.issuedAt { left += " of " + Span.text(seconds: (end - start).rounded(.up)) }
        let room = screen.width - StatusCard.labelColumns
        let columns = min(StatusCard.barColumns, room)
        let drawn = bar.text(columns: columns, isUnicode: screen.isUnicode)
        let colour: Screen.Colour = bar.share > 0.25 ? .green : .yellow
        if columns + 1 + Layout.width(left) <= room {
            return [label("token") + screen.paint(drawn, colour) + " " + left]
        }
        return [label("token") + screen.paint(drawn, colour)] + row("", left)
    }

    private var renewal: String? {
        if !status.renews, status.state == .active {
            guard let end = status.expiresAt else { return "none: valid until the provider ends it" }
            return "none: sign in again after \(WallClock.text(end, now: now))"
        }
        guard status.state == .active || status.state == .stale, let at = status.refreshAt else { return nil }
        let clock = WallClock.text(at, now: now)
        return at > now ? "in \(Span.text(seconds: at - now)) (\(clock))" : "now"
    }

    private var warnings: [String] {
        var warnings: [String] = []
        if status.unsaved, status.state != .signedOut {
            let reason = status.storeError.map { " (\($0))" } ?? ""
            warnings.append(
                "not saved: the store cannot be written now\(reason); authd keeps the session in memory until it can")
        }
        if status.needsPassword {
            let set = status.isDefault ? "`authc password set`" : "`authc password set -s \(status.session)`"
            warnings.append("the account has no password yet: \(set)")
        }
        if let end = SessionEnd(status), end.warning(at: now) != nil {
            warnings.append(
                "the session ends \(WallClock.text(end.end, now: now)); sign in again before: "
                    + "`\(CommandText.login(status.provider, session: status.session))`")
        }
        if let skew = status.clockSkew {
            warnings.append("\(StatusCard.skewText(skew, of: status.provider)): \(StatusCard.skewHint)")
        }
        if status.state == .active, status.cause != nil, let message = status.message { warnings.append(message) }
        if status.state == .active, let error = status.lastError {
            warnings.append("the last renewal failed: \(error)")
        }
        if status.state == .signInRequired, status.cause == "origin_changed" {
            warnings.append("if you trust the new origin: `authc trust -s \(status.session)`")
        }
        if status.state == .signInRequired || status.state == .signedOut {
            let provider = status.provider.isEmpty ? nil : status.provider
            warnings.append("sign in: `\(CommandText.login(provider, session: status.session))`")
        }
        return warnings
    }

    private func label(_ text: String) -> String {
        screen.paint(Layout.padded("  " + text, to: StatusCard.labelColumns), .dim)
    }

    private func row(_ name: String, _ text: String, colour: Screen.Colour? = nil) -> [String] {
        rows(name, Visible.line(text), colour: colour)
    }

    /// A message of the agent, which may have several lines.
    private func rows(_ name: String, _ text: String, colour: Screen.Colour? = nil) -> [String] {
        let text = Visible.lines(AdvisedCommands.text(text))
        return Layout.wrapped(text, on: screen, indent: StatusCard.labelColumns).enumerated().map {
            let (index, line) = $0
            return label(index == 0 ? name : "") + (colour.map { screen.paint(line, $0) } ?? line)
        }
    }
}
