import AuthWire
import Glibc

/// Shows sessions, next renewals, callers and events on the terminal's alternate screen, which preserves the main
/// screen.
///
/// Invariant: the terminal has its own settings and its main screen whenever this is not open: before the first ``show(_:)``
/// and after each ``leave()``.
struct LiveView: WatchView {
    private var model: LiveModel
    /// What is on the screen; `nil` while this is not open.
    private var shown: (lines: [String], width: Int)?
    private var settings: termios?
    private var input = LiveKey.Input()

    /// With bracketed paste.
    private static let open = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h"
    private static let close = "\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"
    private static let clear = "\u{1B}[2J"
    private static let clearLine = "\u{1B}[K"
    /// A terminal that knows them shows what is between them at once; others ignore them.
    private static let begin = "\u{1B}[?2026h"
    private static let end = "\u{1B}[?2026l"

    /// - Parameter session: the only one that is shown; `nil`: all.
    init(session: SessionName?) {
        model = LiveModel(session: session)
    }

    var nextChange: Double? {
        // `fg` does not tell a program that runs already.
        isInBackground ? WallClock.now + Self.backgroundTick : model.nextChange(after: WallClock.now)
    }

    private static let backgroundTick = 1.0

    /// Then a change of the terminal would stop the program (SIGTTOU), and the screen is another program's.
    private var isInBackground: Bool {
        let group = tcgetpgrp(STDIN_FILENO)
        return group >= 0 && group != getpgrp()
    }

    var keys: Int32 { settings == nil ? -1 : STDIN_FILENO }

    mutating func show(_ event: AgentEvent?) throws(Failure) {
        if let event { model.apply(event, now: WallClock.now) }
        model.pass(to: WallClock.now)
        guard !isInBackground else { return leave() }
        let screen = Screen.exact
        let lines = LiveScreen(model: model, now: WallClock.now, screen: screen).lines
        if shown == nil { enterRawMode() }
        let text = (shown == nil ? Self.open : "") + change(to: lines, screen)
        shown = (lines, screen.width)
        if !text.isEmpty { try Output.raw(Self.begin + text + Self.end) }
    }

    mutating func callersQuestion(isTick: Bool) -> AuditListGet? {
        model.callersQuestion(isTick: isTick, now: WallClock.now)
    }

    mutating func show(callers result: Result<JSON, AgentError>) throws(Failure) {
        model.apply(callers: result)
        try show(nil)
    }

    /// Only the lines that differ.
    private func change(to lines: [String], _ screen: Screen) -> String {
        let isSameSize = shown.map { $0.width == screen.width && $0.lines.count == lines.count } ?? false
        let former = isSameSize ? shown?.lines ?? [] : []
        return lines.enumerated().reduce(into: isSameSize ? "" : Self.clear) { text, line in
            guard !former.indices.contains(line.offset) || former[line.offset] != line.element else { return }
            // Cleared first: behind a full line the cursor is still on its last column.
            text += "\u{1B}[\(line.offset + 1);1H\(isSameSize ? Self.clearLine : "")\(line.element)"
        }
    }

    mutating func leave() {
        guard shown != nil else { return }
        shown = nil
        defer { settings = nil }
        guard !isInBackground else { return }
        try? Output.raw(Self.close)
        guard var settings else { return }
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    // MARK: Keys

    /// Keys come one by one, without echo; ^C and ^Z are still signals.
    private mutating func enterRawMode() {
        var found = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &found) == 0 else { return }
        var raw = found
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL)
        raw.c_lflag |= tcflag_t(ISIG)
        guard unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return }
        settings = found
    }

    mutating func pressed() throws(Failure) -> [LiveModel.Action] {
        var ready = pollfd(fd: keys, events: Int16(POLLIN), revents: 0)
        guard keys >= 0, unsafe poll(&ready, 1, 0) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(keys, &bytes, bytes.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return [] }
        let pressed = count > 0 ? LiveKey.parse(Array(bytes[..<count]), after: &input) : [.end]
        var actions: [LiveModel.Action] = []
        for key in pressed {
            let dialog = model.dialog
            let action = model.press(key)
            if case .signOut = model.dialog, dialog != model.dialog {
                // What was typed before the question is no answer.
                tcflush(keys, TCIFLUSH)
                break
            }
            switch action {
            case .redraw?: shown?.lines = []
            case let action?: actions.append(action)
            case nil: break
            }
        }
        try show(nil)
        return actions
    }

    mutating func report(_ text: String) throws(Failure) {
        model.report(text, now: WallClock.now)
        try show(nil)
    }
}
