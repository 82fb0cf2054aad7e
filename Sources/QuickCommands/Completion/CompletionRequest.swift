/// A command line with which a shell's script asks for the values of an option or an argument: `---completion`, the
/// words of the command, `--`, the argument's name, the index of the word at the cursor, the cursor's place in that
/// word, and the line.
///
/// Other forms of it are left to `authc-full`, as are values that take more than one request.
struct CompletionRequest {
    /// The first word.
    static let start: StaticString = "---completion"

    private let values: CompletedValues
    /// `-s` of the line that is completed.
    private let session: Text?

    /// - Parameter words: without the program's name.
    init?(_ words: [Text]) {
        guard let first = words.first, first.equals(Self.start) else { return nil }
        var rest = words.dropFirst()
        guard let command = Self.command(&rest), let argument = rest.popFirst(), let index = rest.popFirst(),
            let cursor = rest.popFirst(), index.decimal != nil, cursor.decimal != nil, !rest.isEmpty
        else { return nil }
        let found = unsafe command.bytes.withUnsafeBytes {
            CompletedValues(of: unsafe Text($0), argument: argument)
        }
        guard let found else { return nil }
        values = found
        var session: Text?
        for place in rest.indices {
            // It may name another agent.
            if rest[place].starts(with: "--socket") { return nil }
            session = session ?? Self.session(at: place, of: rest)
        }
        self.session = session
    }

    /// The words before `--`, with spaces between them. They and `--` are removed from `rest`.
    private static func command(_ rest: inout ArraySlice<Text>) -> ByteString? {
        var command = ByteString()
        while let word = rest.popFirst(), !word.equals("--") {
            // Joined with spaces, such a word would look like other words.
            guard word.count > 0, !word.contains(.space) else { return nil }
            if !command.bytes.isEmpty { command.append(" ") }
            command.append(word)
        }
        return command
    }

    /// The value of `-s`, as `CompletionLine` of `authc-full` finds it.
    private static func session(at place: Int, of line: ArraySlice<Text>) -> Text? {
        let word = line[place]
        if word.starts(with: "-s=") { return word.dropping(3) }
        if word.starts(with: "--session=") { return word.dropping(10) }
        guard word.equals("-s") || word.equals("--session"), place + 1 < line.endIndex else { return nil }
        return line[place + 1]
    }

    /// The exit status if the values were printed, otherwise `nil`.
    func run() -> Int32? {
        guard Printer.canPrint, let folder = AgentFolder(), let exchange = exchange(in: folder) else { return nil }
        return exchange.run(in: folder, within: AgentExchange.memory) { answers in
            guard let json = answers.result(1), let list = values.list(in: json), let text = Self.text(list) else {
                return nil
            }
            return Printer.print(text) ? 0 : nil
        }
    }

    /// `nil` if only the full program can choose the session.
    private func exchange(in folder: AgentFolder) -> AgentExchange? {
        var exchange = AgentExchange()
        switch values {
        case .sessions: exchange.add("session.list")
        case .providers: exchange.add("provider.list")
        case .outbox:
            guard let params = SessionChoice.named(session) else { return nil }
            exchange.add("outbox.list", params)
        case .scopes:
            guard let params = SessionChoice.chosen(session, in: folder) else { return nil }
            exchange.add("session.status", params)
        }
        return exchange
    }

    /// Each value on a line; `nil` for values with escapes.
    private static func text(_ list: [Text]) -> ByteString? {
        var text = ByteString()
        for (place, value) in list.enumerated() {
            guard !value.contains(.backslash) else { return nil }
            if place > 0 { text.append("\n") }
            text.append(value)
        }
        // The zsh script of earlier versions, which a shell may still have loaded, removes this last value.
        if let shell = Text(environment: "SAP_SHELL"), shell.equals("zsh") {
            text.append(list.isEmpty ? " " : "\n ")
        }
        return text
    }
}
