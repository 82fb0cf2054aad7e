import AuthWire

/// Draws the live view: a model, a time and a size become lines. No line is wider than the screen, and there are no more lines
/// than it has.
struct LiveScreen {
    let model: LiveModel
    let now: Double
    let screen: Screen

    /// A line before it is cut and painted.
    private struct Row {
        var text: String
        var colour: Screen.Colour?
    }

    /// The number of renewals that are shown.
    private static let mostRenewals = 6
    /// The number of callers that are shown.
    private static let mostCallers = 4
    /// An error names the command to type, which must not be cut off.
    private static let mostMessageLines = 4
    /// The mark of the selected session, and a space.
    private static let markColumns = 2

    var lines: [String] {
        let footer = footer
        // On a screen of one line, that is what is asked, or how to leave.
        let shown = screen.height == 1 ? footer : model.dialog == .help ? help : fitted([title] + content, footer)
        return shown.prefix(screen.height).map { row in
            let text = Layout.shortened(row.text, to: screen.width, isUnicode: screen.isUnicode)
            return row.colour.map { screen.paint(text, $0) } ?? text
        }
    }

    /// The footer is at the bottom of the screen.
    private func fitted(_ rows: [Row], _ footer: [Row]) -> [Row] {
        let room = max(0, screen.height - footer.count)
        return rows.prefix(room) + Array(repeating: Row(text: ""), count: max(0, room - rows.count)) + footer
    }

    // MARK: Parts

    private var separator: String { screen.isUnicode ? " · " : " - " }

    private var title: Row {
        guard !model.state.isDisconnected else {
            return Row(text: "authd is not running; waiting for it to start", colour: .yellow)
        }
        var parts = ["authd"]
        if model.state.lock != nil { parts.append("locked") }
        if let network = model.state.network {
            parts.append("network \(network.state.rawValue)" + (network.isMetered ? ", metered" : ""))
        }
        if let store = model.state.store { parts.append("store \(StatusCard.spaced(store.state.rawValue))") }
        if let index = model.sessions.firstIndex(where: { $0.session == model.selected }) {
            parts.append("session \(index + 1) of \(model.sessions.count)")
        }
        let isGood =
            model.state.lock == nil && [.online, nil].contains(model.state.network?.state)
            && [.ready, nil].contains(model.state.store?.state)
        return Row(text: Visible.line(parts.joined(separator: separator)), colour: isGood ? .bold : .yellow)
    }

    /// Between title and footer: as many lines as there is room for.
    private var content: [Row] {
        let room = screen.height - 1 - footer.count
        guard room > 0 else { return [] }
        let timeline = LiveTimeline(model.sessions, now: now)
        let renewals = min(timeline.entries.count, Self.mostRenewals)
        let callers = model.callers.lines.prefix(Self.mostCallers)
        let detail = room >= 8 ? self.detail : []
        // Each part but the sessions has a heading; a heading alone is left out.
        let wanted = (
            sessions: 1 + model.sessions.count, timeline: renewals == 0 ? 0 : 1 + renewals,
            callers: callers.isEmpty ? 0 : 1 + callers.count,
            events: model.events.isEmpty ? 0 : 1 + model.events.count
        )
        let (leastCallers, leastEvents) = (min(wanted.callers, room / 5), min(wanted.events, room / 3))
        let others = min(wanted.timeline, room / 4) + leastCallers + leastEvents + detail.count
        let sessions = min(wanted.sessions, max(min(2, room), room - others))
        var rest = room - sessions - detail.count
        let forTimeline = min(wanted.timeline, rest - leastCallers - leastEvents)
        var rows = sessionRows(sessions) + detail
        if forTimeline >= 2 {
            rows.append(Row(text: "NEXT RENEWALS", colour: .dim))
            rows += timeline.lines(forTimeline - 1, screen).map { Row(text: $0) }
            rest -= forTimeline
        }
        let forCallers = min(wanted.callers, rest - leastEvents)
        if forCallers >= 2 {
            rows.append(Row(text: "CALLERS", colour: .dim))
            rows += callerRows(callers.prefix(forCallers - 1))
            rest -= forCallers
        }
        if rest >= 2, !model.events.isEmpty {
            rows.append(Row(text: "EVENTS", colour: .dim))
            rows += model.events.prefix(rest - 1).map { event in
                Row(text: WallClock.text(event.at, now: now, withSeconds: true) + " " + event.text)
            }
        }
        return rows
    }

    /// How long ago, which program, and what it has requested.
    private func callerRows(_ callers: ArraySlice<LiveCallers.Line>) -> [Row] {
        let cells = callers.map { line in
            // A long name must leave room for the request.
            let room = max(1, screen.width / 4)
            return [
                line.age(now: now), Layout.shortened(line.program, to: room, isUnicode: screen.isUnicode), line.request,
            ]
        }
        let widths = (0..<2).map { column in cells.map { Layout.width($0[column]) }.max() ?? 0 }
        return cells.map { cells in
            Row(text: zip(cells, widths).map { Layout.padded($0, to: $1) + "  " }.joined() + (cells.last ?? ""))
        }
    }

    /// - Parameter count: with the header. The selected session is among those that are shown.
    private func sessionRows(_ count: Int) -> [Row] {
        guard !model.sessions.isEmpty else {
            return [Row(text: "There are no sessions. Sign in: `authc login`")].suffix(count)
        }
        var table = screen
        (table.isColoured, table.isTerminal) = (false, true)
        table.width = max(1, screen.width - Self.markColumns)
        let selected = model.sessions.firstIndex { $0.session == model.selected } ?? 0
        let shown = max(1, count - 1)
        let first = max(0, min(selected - shown / 2, model.sessions.count - shown))
        let visible = first..<min(first + shown, model.sessions.count)
        let lines = SessionTableText(sessions: Array(model.sessions[visible]), now: now, screen: table).text.split(
            separator: "\n", omittingEmptySubsequences: false)
        let rows = visible.map { index in
            let mark = index == selected ? "> " : "  "
            return Row(
                text: mark + lines[index - first + 1],
                colour: index == selected ? .bold : colour(model.sessions[index].state))
        }
        // Without room for both, the session.
        return (count == 1 ? [] : [Row(text: "  " + lines[0], colour: .dim)]) + rows
    }

    private func colour(_ state: SessionState) -> Screen.Colour? { state == .active ? nil : StatusCard.colour(state) }

    /// What the selected session needs, in two lines at most.
    private var detail: [Row] {
        guard let status = model.sessions.first(where: { $0.session == model.selected }) else { return [] }
        let text: String
        switch status.state {
        case .signInRequired, .signedOut:
            text =
                (status.message.map { $0 + " " } ?? "")
                + "Sign in: `\(CommandText.login(status.provider, session: status.session))`"
        default:
            guard let reason = status.message ?? status.lastError ?? status.storeError else { return [] }
            text = reason
        }
        let lines = Layout.wrapped(Visible.lines(text), on: indented, isExact: true)
        return lines.prefix(2).map { Row(text: "  " + $0, colour: .yellow) }
    }

    private var indented: Screen {
        var screen = wide
        screen.width = max(1, screen.width - Self.markColumns)
        return screen
    }

    private var wide: Screen {
        var screen = screen
        screen.isTerminal = true
        return screen
    }

    private var footer: [Row] {
        if case .signOut(let name)? = model.dialog {
            let (start, end) = ("Sign out ", "? [y/N]")
            let room = max(1, screen.width - start.count - end.count)
            let name = Layout.shortened(name.text, to: room, keepsEnd: true, isUnicode: screen.isUnicode)
            return [Row(text: start + name + end, colour: .bold)]
        }
        if let message = model.message {
            let most = max(1, min(Self.mostMessageLines, screen.height / 3))
            return Layout.wrapped(message, on: wide, isExact: true).prefix(most).map { Row(text: $0, colour: .bold) }
        }
        let choices = [
            "up/down select  r renew  s sign out  l lock  ? help  q quit",
            "r renew  s sign out  l lock  ? help  q quit", "r renew  s sign out  l lock  ?  q quit",
            "r renew  s sign out  ? help  q quit", "? help  q quit", "q quit",
        ]
        return [Row(text: choices.first { Layout.width($0) <= screen.width } ?? "q", colour: .dim)]
    }

    private var help: [Row] {
        [
            Row(text: "Keys", colour: .bold), Row(text: "up, k      the session above"),
            Row(text: "down, j    the session below"), Row(text: "g, G       the first, the last"),
            Row(text: "r          renew its token now"), Row(text: "s          sign out, after a question"),
            Row(text: "l          lock the agent"), Row(text: "^L         draw again"),
            Row(text: "q, ^C      quit"), Row(text: ""),
            Row(text: "Any key continues.", colour: .dim),
        ]
    }
}
