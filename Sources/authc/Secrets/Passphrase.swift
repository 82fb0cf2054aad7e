import AuthWire

/// Reads a passphrase from the terminal or from standard input.
enum Passphrase {
    static func fromInput() throws(Failure) -> String {
        try FieldArguments.secret(from: 0, named: "--passphrase-stdin")
    }

    /// A hint: the same command for a script, without a terminal.
    static var fromFile: String {
        let words = TypedCommand.words.filter { !["--no-input", "--passphrase"].contains($0) }
        return "`\(CommandText.authc(words + ["--passphrase-stdin"])) < FILE` reads it from a file"
    }

    /// The minimum length of a new passphrase, in the agent's unit.
    enum Minimum {
        case bytes(Int), characters(Int)

        fileprivate func allows(_ passphrase: String) -> Bool {
            switch self {
            case .bytes(let count): passphrase.utf8.count >= count
            case .characters(let count): passphrase.count >= count
            }
        }

        /// A character has at least one byte, so the advice is right for both.
        fileprivate var advice: String {
            switch self {
            case .bytes(let count), .characters(let count): "Use at least \(count) characters."
            }
        }
    }

    /// - Parameters:
    ///   - isNew: whether to ask for it twice.
    ///   - shortest: the minimum length of a new one.
    static func ask(
        _ question: String, isNew: Bool, atLeast shortest: Minimum = .bytes(Limits.shortestPassphrase),
        _ options: Options
    ) throws(Failure) -> String {
        guard options.canPrompt else {
            throw .usage("a passphrase is needed, and there is no terminal", hint: fromFile)
        }
        let signals = try Signals(TerminalInput.signals)
        do throws(Failure) {
            let input = TerminalInput(signals: signals)
            while true {
                let first = try line(question + ": ", input)
                guard !first.isEmpty else { continue }
                guard isNew else { return first }
                guard shortest.allows(first) else {
                    Output.note(shortest.advice)
                    continue
                }
                if try line(question + ", again: ", input) == first { return first }
                Output.note("The two are not the same.")
            }
        } catch {
            // End the program by the signal, so that a script's shell stops too.
            if let number = signals.consume() { signals.performDefault(number) }
            throw error
        }
    }

    private static func line(_ question: String, _ input: TerminalInput) throws(Failure) -> String {
        guard let line = try input.ask(question, isSecret: true) else { throw .cancelled("nothing was changed") }
        return line
    }
}
