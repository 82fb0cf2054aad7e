import CommandArguments

/// A program with every kind of option and argument: `ship send`, `ship note add` and `ship note list`.
struct Ship: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ship", abstract: "Send parcels.", discussion: "Two lines:\nthis is the second.", version: "1.2.3",
        subcommands: [Send.self, Note.self, Secret.self])
}

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "send", abstract: "Send a parcel.")

    @OptionGroup var shared: Shared

    @Flag(name: [.short, .long], help: "Faster.") var express = false

    @Flag(inversion: .prefixedNo, help: "Insure it.") var insure = true

    @Flag(inversion: .prefixedNo, help: "Ask for a signature.") var signature: Bool?

    @Option(name: [.short, .long], help: ArgumentHelp("Its weight.", valueName: "kg"), completion: .list([]))
    var weight: Int?

    @Option(help: "The speed: slow or fast.", completion: .list(["slow", "fast"]), transform: speedWord)
    var speed: Speed = .slow

    @Option(name: [.customShort("t"), .customLong("label")], help: "A label; repeatable.", completion: .file)
    var labels: [String] = []

    @Option(help: "The currency.", completion: .list(["EUR", "USD"])) var currency = "EUR"

    @Option(defaultAsFlag: "all", help: "Report the steps.", completion: .list(["all"])) var trackingReport: String?

    @Argument(
        help: ArgumentHelp("Who gets it.", valueName: "name"),
        completion: .custom { words, index, prefix in ["\(words.count)", "\(index)", prefix] })
    var receiver: String

    @Argument(help: "What is in it.", completion: .list([])) var items: [String] = []

    @Argument(parsing: .postTerminator, help: "Words for the driver.", completion: .list([])) var remarks: [String] = []

    func validate() throws(ValidationError) {
        guard !express || weight ?? 0 < 100 else { throw ValidationError("Too heavy for --express.") }
    }
}

struct Shared: ParsableArguments {
    @Option(help: "The depot.", completion: .list([])) var depot: String?

    @Flag(help: .hidden) var quiet = false

    func validate() throws(ValidationError) {
        guard depot != "" else { throw ValidationError("The depot has no name.") }
    }
}

enum Speed: String {
    case slow, fast
}

@Sendable private func speedWord(_ text: String) throws(ValidationError) -> Speed {
    guard let speed = Speed(rawValue: text) else { throw ValidationError("'\(text)' is not a speed.") }
    return speed
}

struct Note: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note", abstract: "Write notes.", subcommands: [Add.self, List.self],
        defaultSubcommand: List.self)

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a note.", usage: "ship note add <text> ...")

        @Option(help: "The order's number.", completion: .list([])) var order: Int32

        @Argument(help: "Its words.", completion: .list([])) var text: [String]
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all notes.")

        @Flag(help: "The newest first.") var newestFirst = false
    }
}

struct Secret: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "secret", shouldDisplay: false)

    @OptionGroup(visibility: .hidden) var shared: Shared

    @Option(help: .hidden, completion: .list([])) var port: Int?
}

/// Parses lines of the sample program.
enum Line {
    static func parse(_ words: [String]) throws(UsageError) -> ParsedLine {
        try CommandParser.parse(words, root: Ship.self)
    }

    static func send(_ words: [String]) throws -> Send {
        guard case .command(let command) = try parse(["send"] + words), let send = command as? Send else {
            throw OtherLine()
        }
        return send
    }

    /// The message of the error, and the explanation on a second line.
    static func error(_ line: String) -> String? {
        do throws(UsageError) {
            _ = try parse(words(line))
            return nil
        } catch {
            return ([error.message] + [error.explanation].compactMap(\.self)).joined(separator: "\n")
        }
    }

    static func help(_ line: String) throws -> String {
        guard case .help(let text) = try parse(words(line)) else { throw OtherLine() }
        return text
    }

    static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    struct OtherLine: Error {}
}
