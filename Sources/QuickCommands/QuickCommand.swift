/// The command lines that shells and scripts run most: what only reads, as long as nothing is wrong.
///
/// In any other case nothing is printed, and the full program does the whole command again: it alone has all options and messages.
struct QuickCommand {
    enum Name {
        case version, prompt, token, status, list, whoami, network, wait
    }

    /// As many words belong to the longest one, and one more to another command line.
    static let longest = 7

    let name: Name
    /// `-s`
    private(set) var session: Text?
    /// `--for`
    private(set) var origin: Text?
    private(set) var isJSON = false

    /// - Parameter words: without the program's name.
    /// - Returns: `nil` for any other command line.
    init?(_ words: [Text]) {
        guard let name = words.first.flatMap(Self.name) else { return nil }
        self.name = name
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--json" where !isJSON && name != .version: isJSON = true
            case "-s" where session == nil && isAboutSession:
                guard let value = rest.popFirst() else { return nil }
                session = value
            case "--for" where origin == nil && name == .token:
                guard let value = rest.popFirst() else { return nil }
                origin = value
            default: return nil
            }
        }
    }

    private static func name(_ word: Text) -> Name? {
        switch word {
        case "--version": .version
        case "prompt": .prompt
        case "token": .token
        case "status": .status
        case "list": .list
        case "whoami": .whoami
        case "network": .network
        case "wait": .wait
        default: nil
        }
    }

    private var isAboutSession: Bool {
        switch name {
        case .token, .status, .whoami, .wait: true
        case .version, .prompt, .list, .network: false
        }
    }

    /// The exit status if the result was printed, otherwise `nil`.
    func run() -> Int32? {
        guard Printer.canPrint else { return nil }
        if name == .version { return Printer.print(Release.line) ? 0 : nil }
        guard let folder = AgentFolder() else { return nil }
        if name == .prompt { return PromptFile.print(in: folder, asJSON: isJSON) ? 0 : nil }
        return AgentReport(self, in: folder)?.print()
    }
}
