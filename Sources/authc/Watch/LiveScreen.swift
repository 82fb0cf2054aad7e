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

    /// An error names the command to type, which must not be cut off.
    private static let mostMessageLines = 4
    /// The selected line of a list is wrapped to this many lines at most.
    private static let mostSelectedLines = 3
    /// The mark of the selected line, and a space.
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
        if let selected = model.selected {
            let place = "\(model.line(of: .sessions) + 1) of \(model.sessions.count)"
            if shares[.sessions] > 0 {
                parts.append("session \(place)")
            } else {
                // Keys act on this session, so its name must not be cut off.
                parts.insert("session \(selected.text) (\(place))", at: 1)
            }
        }
        let isGood =
            model.state.lock == nil && [.online, nil].contains(model.state.network?.state)
            && [.ready, nil].contains(model.state.store?.state)
        return Row(text: Visible.line(parts.joined(separator: separator)), colour: isGood ? .bold : .yellow)
    }

    /// The lines between title and footer.
    private var room: Int { max(0, screen.height - 1 - footer.count) }

    private var shownDetail: [Row] { room >= 8 && model.list == .sessions ? detail : [] }

    private var shares: LiveShares { LiveShares(model, room: room, detail: shownDetail.count) }

    /// Between title and footer: as many lines as there is room for.
    private var content: [Row] {
        guard room > 0 else { return [] }
        let shares = self.shares
        let timeline = LiveTimeline(model.sessions, now: now)
        return sessionRows(shares[.sessions]) + shownDetail
            + rows(of: .renewals, "NEXT RENEWALS", shares) { range, screen in timeline.lines(range, screen) }
            + rows(of: .callers, "CALLERS", shares) { range, screen in callers(range, screen) }
            + rows(of: .events, "EVENTS", shares) { range, _ in
                model.events[range].map { WallClock.text($0.at, now: now, withSeconds: true) + " " + $0.text }
            }
    }

    /// The heading and the lines of a list; in the chosen list, the lines around the selected one.
    /// - Parameter lines: those of a range, which may be wider than the screen.
    private func rows(
        of list: LiveList, _ heading: String, _ shares: LiveShares, _ lines: (Range<Int>, Screen) -> [String]
    ) -> [Row] {
        let (share, count, selected) = (shares[list], model.count(of: list), model.line(of: list))
        guard share > 0 else { return [] }
        guard list == model.list else {
            return [Row(text: heading, colour: .dim)] + lines(0..<(share - 1), screen).map { Row(text: $0) }
        }
        // If there is no room for both, only the line.
        let hasHeading = share > 1
        let room = hasHeading ? share - 1 : share
        let whole = Layout.wrapped(lines(selected..<(selected + 1), indented)[0], on: indented, isExact: true)
            .prefix(min(Self.mostSelectedLines, room))
        let visible = window(of: max(1, room - whole.count + 1), around: selected, in: count)
        let rows = zip(visible, lines(visible, indented)).flatMap { index, text in
            guard index == selected else { return [Row(text: "  " + text)] }
            let parts = Layout.width(text) > indented.width ? Array(whole) : [text]
            return parts.enumerated().map { Row(text: ($0.offset == 0 ? "> " : "  ") + $0.element, colour: .bold) }
        }
        let title = "\(heading) \(selected + 1) of \(count)"
        return (hasHeading ? [Row(text: title, colour: .bold)] : []) + rows
    }

    /// A range of `size` lines of a list, including the selected one.
    private func window(of size: Int, around selected: Int, in count: Int) -> Range<Int> {
        let first = max(0, min(selected - size / 2, count - size))
        return first..<min(first + size, count)
    }

    /// How long ago, which program, and what it has requested.
    private func callers(_ range: Range<Int>, _ screen: Screen) -> [String] {
        let cells = model.callers.lines[range].map { line in
            // A long name must leave room for the request.
            let room = max(1, screen.width / 4)
            return [
                line.age(now: now), Layout.shortened(line.program, to: room, isUnicode: screen.isUnicode), line.request,
            ]
        }
        let widths = (0..<2).map { column in cells.map { Layout.width($0[column]) }.max() ?? 0 }
        return cells.map { cells in
            zip(cells, widths).map { Layout.padded($0, to: $1) + "  " }.joined() + (cells.last ?? "")
        }
    }

    /// - Parameter count: with the header. The selected session is among those that are shown.
    private func sessionRows(_ count: Int) -> [Row] {
        guard count > 0 else { return [] }
        guard !model.sessions.isEmpty else {
            return [Row(text: AdvisedCommands.text("There are no sessions. Sign in: `authc login`"))].suffix(count)
        }
        var table = screen
        (table.isColoured, table.isTerminal) = (false, true)
        table.width = max(1, screen.width - Self.markColumns)
        let selected = model.line(of: .sessions)
        let visible = window(of: max(1, count - 1), around: selected, in: model.sessions.count)
        let lines = SessionTableText(sessions: Array(model.sessions[visible]), now: now, screen: table).text.split(
            separator: "\n", omittingEmptySubsequences: false)
        let rows = visible.map { index in
            let mark = index == selected ? "> " : "  "
            return Row(
                text: mark + lines[index - visible.lowerBound + 1],
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
        let session = model.isSessionElsewhere ? model.selected?.text : nil
        let actions = session.map { "r renew, s sign out \($0)" } ?? "r renew  s sign out"
        let others =
            [
                "up/down select  tab next list  \(actions)  l lock  ? help  q quit",
                "tab next list  \(actions)  ? help  q quit", "tab list  \(actions)  ?  q quit",
            ] + (session.map { ["tab list  r, s \($0)  ?  q quit"] } ?? []) + [
                "tab list  ? help  q quit", "tab  ?  q quit",
            ]
        let choices =
            (model.hasOtherLists ? others : []) + [
                "up/down select  r renew  s sign out  l lock  ? help  q quit",
                "r renew  s sign out  l lock  ? help  q quit", "r renew  s sign out  l lock  ?  q quit",
                "r renew  s sign out  ? help  q quit", "? help  q quit", "q quit",
            ]
        return [Row(text: choices.first { Layout.width($0) <= screen.width } ?? "q", colour: .dim)]
    }

    /// The keys that quit come first: a small screen shows only the first lines.
    private var help: [Row] {
        [
            Row(text: "Any key continues.", colour: .bold), Row(text: "q, ^C      quit"),
            Row(text: "r          renew the session's token"), Row(text: "s          sign out, after a question"),
            Row(text: "l          lock the agent"), Row(text: "tab        renewals, callers, events"),
            Row(text: "esc        the sessions"), Row(text: "up, k      the line above"),
            Row(text: "down, j    the line below"), Row(text: "b, space   ten lines up, down"),
            Row(text: "g, G       the first, the last"), Row(text: "^L         draw again"),
        ]
    }
}
