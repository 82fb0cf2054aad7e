package import ArgumentParser
package import AuthWire
package import Logging

/// The command line of `authd`, with its help and errors. The agent itself uses ``AgentOptions``.
package struct AgentArguments: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "authd",
        abstract: "Keeps your signed-in sessions and serves them to your programs.",
        discussion: """
            It stays in the foreground. SIGTERM and SIGINT end it, SIGHUP reloads settings and profiles.
            It is not Ubuntu's login daemon of the same name.
            """,
        version: "authd \(Release.version)")

    @Option(help: ArgumentHelp("Settings to read instead of authd.toml.", valueName: "file"))
    package var config: String?

    @Option(help: ArgumentHelp("Where to listen.", valueName: "path"))
    package var socket: String?

    @Option(help: ArgumentHelp("Where to listen for clients with limited access.", valueName: "path"))
    package var extraSocket: String?

    @Option(
        help: "Where sessions are kept: \(AgentArguments.words(StoreKind.self)).",
        transform: { try AgentArguments.word($0) })
    package var store: StoreKind?

    @Option(
        help: "How much is logged: \(AgentArguments.words(Logger.Level.self)).",
        transform: { try AgentArguments.word($0) })
    package var logLevel: Logger.Level?

    @Flag(help: "Read settings and profiles, say what is wrong with them, and end.")
    package var check = false

    package init() {}

    package func validate() throws {
        for (option, path) in [("--socket", socket), ("--extra-socket", extraSocket)] {
            guard let path else { continue }
            if let problem = Self.problem(of: path, option) { throw ValidationError(problem) }
        }
    }

    static func isSocketPath(_ path: String) -> Bool { problem(of: path, "") == nil }

    private static func problem(of path: String, _ option: String) -> String? {
        do throws(AgentError) {
            _ = try SocketPath.resolve(flag: path, of: option, environment: { _ in nil }, userID: 0)
            return nil
        } catch {
            return error.message
        }
    }

    private static func words<Word: CaseIterable & RawRepresentable>(_ type: Word.Type) -> String
    where Word.RawValue == String {
        Word.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func word<Word: CaseIterable & RawRepresentable>(_ text: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw ValidationError(Suggestion.refusal(of: text, among: Word.allCases.map(\.rawValue)))
        }
        return word
    }
}
