/// Shows an active session that has no warning (`StatusCard` of the full program).
struct SessionCard {
    private(set) var text = ByteString()
    private let screen: Screen
    /// Whether every line so far is one of the full program's.
    private var isSame = true

    /// The longest label and a gap.
    private static let labelColumns = 10
    private static let barColumns = 20
    /// A bar with less than this is yellow.
    private static let lowShare = 0.25

    /// `nil` for a session or a screen that needs the full program.
    init?(_ status: SessionValues, now: Double, screen: Screen) {
        self.screen = screen
        guard status.state == .active, !status.hasWarning(at: now), status.provider.count > 0 else { return nil }
        addHeadline(status)
        var name = ByteString(status.session)
        if status.isDefault { name.append(" (default)") }
        add("session", name)
        add("state", ByteString(status.stateWord), .green)
        guard addToken(status, now), addRenewal(status, now) else { return nil }
        if status.isRemembered { addRemembered(status) }
        if let shared = status.sharedSession { add("sign-in", "shared with session ", shared) }
        if let store = status.store { add("store", Self.storeName(store)) }
        addScopes(status)
        guard isSame else { return nil }
    }

    private mutating func addHeadline(_ status: SessionValues) {
        var line = ByteString(status.who)
        if status.who.count > 0 { line.append(" at ") }
        line.append(status.provider)
        if let environment = status.environment {
            line.append(" (")
            line.append(environment)
            line.append(")")
        }
        check(line, indent: 0)
        text.append(screen.paint(line, .bold))
    }

    /// - Returns: whether it can be shown here.
    private mutating func addToken(_ status: SessionValues, _ now: Double) -> Bool {
        guard let end = status.expiresAt else {
            add("token", "expiry unknown")
            return true
        }
        guard end > now else { return false }
        var left = Span.text(seconds: end - now)
        left.append(" left")
        guard let start = status.issuedAt ?? status.signedInAt, end > start else {
            add("token", left)
            return true
        }
        if let issued = status.issuedAt {
            left.append(" of ")
            left.append(Span.text(seconds: (end - issued).roundedUp))
        }
        let room = screen.width - Self.labelColumns
        let columns = min(Self.barColumns, room)
        guard columns + 1 + left.bytes.count <= room else { return false }
        let share = min(1, max(0, (end - now) / (end - start)))
        addLabel("token")
        text.append(screen.paint(bar(share, columns), share > Self.lowShare ? .green : .yellow))
        text.append(" ")
        text.append(left)
        return true
    }

    /// The bar is empty only after the end.
    private func bar(_ share: Double, _ columns: Int) -> ByteString {
        let full = share == 0 ? 0 : max(1, (share * Double(columns)).nearest)
        var bar = ByteString()
        for column in 0..<columns {
            if screen.isUnicode {
                bar.append(column < full ? "\u{2588}" : "\u{2591}")
            } else {
                bar.append(column < full ? "#" : ".")
            }
        }
        return bar
    }

    /// - Returns: whether it can be shown here.
    private mutating func addRenewal(_ status: SessionValues, _ now: Double) -> Bool {
        guard status.renews else {
            guard let end = status.expiresAt else {
                add("renewal", "none: valid until the provider ends it")
                return true
            }
            guard let clock = Clock.text(end, now: now) else { return false }
            var line = ByteString()
            line.append("none: sign in again after ")
            line.append(clock)
            add("renewal", line)
            return true
        }
        guard let at = status.refreshAt else { return true }
        guard at > now else {
            add("renewal", "now")
            return true
        }
        guard let clock = Clock.text(at, now: now) else { return false }
        var line = ByteString()
        line.append("in ")
        line.append(Span.text(seconds: at - now))
        line.append(" (")
        line.append(clock)
        line.append(")")
        add("renewal", line)
        return true
    }

    private mutating func addRemembered(_ status: SessionValues) {
        var line = ByteString()
        line.append("with the stored sign-in; `authc logout")
        if !status.isDefault {
            line.append(" -s ")
            line.append(status.session)
        }
        line.append("` deletes it")
        add("", line)
    }

    private mutating func addScopes(_ status: SessionValues) {
        guard var scopes = status.scopes.flatMap({ JSONList(array: $0) }) else { return }
        var line = ByteString()
        var isFirst = true
        while let scope = scopes.next()?.value.string {
            if !isFirst { line.append(" ") }
            line.append(scope)
            isFirst = false
        }
        if !isFirst { add("scopes", line) }
    }

    private static func storeName(_ store: Text) -> StaticString {
        switch store {
        case "secret-service": "keyring"
        case "sealed-file": "sealed file"
        case "etcd": "etcd"
        default: "memory only: lost when authd ends"
        }
    }

    // MARK: - Lines

    private mutating func add(_ label: StaticString, _ line: ByteString, _ colour: Screen.Colour? = nil) {
        check(line, indent: Self.labelColumns)
        addLabel(label)
        text.append(colour.map { screen.paint(line, $0) } ?? line)
    }

    private mutating func add(_ label: StaticString, _ start: StaticString, _ end: Text = Text()) {
        var line = ByteString()
        line.append(start)
        line.append(end)
        add(label, line)
    }

    private mutating func addLabel(_ label: StaticString) {
        text.append("\n")
        var padded = ByteString()
        padded.append("  ")
        padded.append(label)
        padded.append(.space, times: Self.labelColumns - padded.bytes.count)
        text.append(screen.paint(padded, .dim))
    }

    /// The full program writes characters in place of escapes, and wraps lines.
    private mutating func check(_ line: ByteString, indent: Int) {
        if line.bytes.contains(.backslash) || !screen.isLine(line, indent: indent) { isSame = false }
    }
}

extension SessionValues {
    /// `SessionEnd` of AuthWire: the user is warned a week and a day before the end, if that is at most half of the lifetime.
    private static let week: Double = 7 * 86_400
    private static let day: Double = 86_400

    fileprivate func hasWarning(at now: Double) -> Bool {
        cause != nil || message != nil || lastError != nil || lockedSince != nil || needsPassword || isUnsaved
            || hasClockSkew || endsSoon(now)
    }

    private func endsSoon(_ now: Double) -> Bool {
        guard let end = endsAt, now < end, let start = isEndFixed ? signedInAt : issuedAt else { return false }
        let isInWeek = Self.week <= (end - start) / 2 && end - now <= Self.week
        return isInWeek || Self.day <= (end - start) / 2 && end - now <= Self.day
    }
}

extension Double {
    /// A number that fits in an `Int`, without a function of libm.
    fileprivate var roundedUp: Double {
        guard self < 1e15 else { return self }
        let whole = Double(Int(self))
        return whole < self ? whole + 1 : whole
    }

    /// The nearest whole number of one from 0 to 1000.
    fileprivate var nearest: Int {
        let whole = Int(self)
        return self - Double(whole) >= 0.5 ? whole + 1 : whole
    }
}
