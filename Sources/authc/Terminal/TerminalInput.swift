import AuthConnection
import AuthWire
import Glibc

/// Asks the user on the terminal. Secrets are read without echo.
///
/// Invariant: the terminal has its original settings whenever this is not reading, even while the program is stopped and
/// after a signal ends it.
struct TerminalInput {
    /// The kernel's limit in canonical mode. It drops the rest of a longer line silently (termios(3)).
    private static let longestLine = 4095
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    let signals: Signals

    /// Returns the line, or `nil` at the end of input.
    ///
    /// - Throws: a silent failure after a signal, which stays in `signals`.
    func ask(_ question: String, isSecret: Bool) throws(Failure) -> String? {
        while true {
            // Before the question: an immediate answer must not be shown, nor dropped.
            let found = isSecret ? try hideEcho() : nil
            Output.question(question)
            let outcome = signals.wait(for: .readable(STDIN_FILENO), until: .never)
            let line = outcome == .ready ? readLine() : nil
            if let found { restore(found) }
            // Nothing else has ended the line of the question.
            if isSecret || line == nil { Output.prompt("\n") }
            switch outcome {
            case .ready:
                guard let line else { return nil }
                guard line.utf8.count < Self.longestLine else {
                    throw .usage(
                        "a line on a terminal has at most \(Self.longestLine) bytes", hint: "use --secret-fd for more")
                }
                return line
            case .deadline: break
            case .signal:
                guard signals.caught == SIGTSTP else {
                    throw Failure(ClientError.cancelled, doing: "", within: .zero)
                }
                signals.stopProgram()
            }
        }
    }

    /// Asks in a command that has nothing to undo. A signal ends the program as usual, so that a script's shell stops too.
    static func ask(_ question: String, isSecret: Bool) throws(Failure) -> String? {
        let signals = try Signals(Self.signals)
        do throws(Failure) {
            return try TerminalInput(signals: signals).ask(question, isSecret: isSecret)
        } catch {
            if let number = signals.consume() { signals.performDefault(number) }
            throw error
        }
    }

    private func readLine() -> String? {
        var bytes = [UInt8](repeating: 0, count: Self.longestLine + 1)
        let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Drops what was typed before the question (TCSAFLUSH), as getpass(3) does.
    /// - Throws: if the echo cannot be turned off, or only part of the change was made (tcsetattr(3)). Then nothing is asked.
    private func hideEcho() throws(Failure) -> termios {
        var found = termios()
        var quiet = termios()
        let hidden = tcflag_t(ECHO | ECHONL)
        if unsafe tcgetattr(STDIN_FILENO, &found) == 0 {
            quiet = found
            quiet.c_lflag &= ~hidden
            quiet.c_lflag |= tcflag_t(ICANON | ISIG)
            if unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0,
                unsafe tcgetattr(STDIN_FILENO, &quiet) == 0, quiet.c_lflag & hidden == 0
            {
                return found
            }
            restore(found)
        }
        throw Failure(
            status: .internalError, kind: "terminal",
            message:
                "cannot hide the secret on this terminal (\(SystemError.text(errno)))",
            hint: "use stdin or a descriptor: `authc help login` lists the options")
    }

    private func restore(_ settings: termios) {
        var settings = settings
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
