import AuthClient
import AuthWire
import Glibc

/// Asks a person at the terminal; what is secret is read without echo.
///
/// Invariant: the terminal's settings are as they were found whenever this is not reading, also while the program is
/// stopped and when a signal ends it.
struct TerminalInput {
    /// The kernel's own line in canonical mode, which cuts off the rest silently (termios(3)).
    private static let longestLine = 4095
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    let signals: Signals

    /// The line typed, or `nil` at the end of input.
    ///
    /// - Throws: a silent failure when a signal came; the signal waits in `signals`.
    func ask(_ question: String, isSecret: Bool) throws(Failure) -> String? {
        while true {
            // Before the question: who answers it at once must not be shown, nor have the answer dropped.
            let found = isSecret ? try hideEcho() : nil
            Output.prompt(question)
            let outcome = signals.wait(for: STDIN_FILENO, until: .never)
            let line = outcome == .ready ? readLine() : nil
            if let found { restore(found) }
            if isSecret { Output.prompt("\n") }
            switch outcome {
            case .ready:
                guard let line else { return nil }
                guard line.utf8.count < Self.longestLine else {
                    throw .usage("a terminal takes \(Self.longestLine) bytes a line", hint: "use --secret-fd for more")
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

    /// Asks in a program that has nothing to undo. A signal ends it as it would have without the question, so that a script's
    /// shell stops too.
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

    /// What was typed before the question is no answer to it: it is dropped (TCSAFLUSH), as getpass(3) does.
    /// - Throws: if the echo cannot be turned off, or only a part of the change was made (tcsetattr(3)): then nothing is asked.
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
                "the terminal would show the secret while it is typed (\(SystemError.text(errno))); nothing was asked",
            hint: "give it on stdin or with a descriptor: `authc help login` names the options")
    }

    private func restore(_ settings: termios) {
        var settings = settings
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }
}
