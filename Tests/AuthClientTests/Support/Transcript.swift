import AuthWire
import Foundation

/// A session at a terminal as text: what the agent answers, what is typed, what is seen.
///
///     agent session.list {"sessions":[]}
///     error token.get {"code":-32000,…}
///     $ authc list
///     ! There is no session. …
///     exit 0
///
/// `$` begins a command, an environment may stand before it; lines after it are stdout, those with `! ` stderr;
/// `exit N` ends it. `#` is a comment. `NOW+N` in an answer is the time plus N seconds.
struct Transcript {
    struct Command {
        var line: String
        var expected: String
    }

    var replies: [String: Result<JSON, AgentError>] = [:]
    var commands: [Command] = []

    init(_ text: String) throws {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("agent ") || line.hasPrefix("error ") {
                let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
                let json = try JSON(parsing: Self.timed(parts[2]))
                replies[parts[1]] = parts[0] == "agent" ? .success(json) : .failure(AgentError(json: json))
            } else if line.hasPrefix("$ ") {
                commands.append(Command(line: String(line.dropFirst(2)), expected: ""))
            } else if !commands.isEmpty {
                commands[commands.count - 1].expected += line + "\n"
            }
        }
        for index in commands.indices {
            commands[index].expected = commands[index].expected.trimmingCharacters(in: .newlines)
        }
    }

    /// How the same command's real outcome is written.
    static func written(_ program: Program) -> String {
        var lines = program.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        lines += program.errors.split(separator: "\n").map { "! " + $0 }
        lines.append("exit \(program.status)")
        return lines.joined(separator: "\n")
    }

    private static func timed(_ text: String) -> String {
        text.replacing(/NOW([+-]\d+)/) { match in
            String(Int(Date().timeIntervalSince1970) + (Int(match.1) ?? 0))
        }
    }
}
