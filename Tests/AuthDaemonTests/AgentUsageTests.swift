import ArgumentParser
@testable import AuthDaemon
import TestSupport
import Testing

@Suite("Command lines of authd that are refused", .timeLimit(.minutes(2)))
struct AgentUsageTests {
    private static let help = "`authd --help` describes the options"

    private static func text(_ words: [String]) throws -> String {
        let error = try #require(throws: (any Error).self) { try AgentArguments.parse(words) }
        return AgentUsageProblem(error, words).text
    }

    @Test(
        "the first line says what is wrong, and the next one what to do",
        arguments: [
            (["--nope"], "Unknown option '--nope'"), (["more"], "Unexpected argument 'more'"),
            (["--config"], "Missing value for '--config <file>'"),
            (["--socket", "s"], "--socket: the path of the socket must be absolute"),
            (
                ["--store", "clouds"],
                "The value 'clouds' is invalid for '--store <store>': 'clouds' is not one of secret-service"
            ),
        ])
    func lines(words: [String], problem: String) throws {
        let lines = try Self.text(words).split(separator: "\n")
        #expect(lines.first?.hasPrefix("authd: " + problem) == true && lines.count == 2, "\(lines)")
        #expect(lines.last == "  \(Self.help)", "\(lines)")
    }

    @Test(
        "a similar option is suggested in the whole command, or alone if the rest is wrong, too",
        arguments: [
            (["--sokcet", "/run/it's"], #"`authd --socket '/run/it'\''s'`"#),
            (["--check", "--log-levle=debug"], "`authd --check --log-level=debug`"),
            (["--scoket", "relative"], "--socket"), (["--sotre"], "--store"),
        ])
    func suggestion(words: [String], meant: String) throws {
        let lines = try Self.text(words).split(separator: "\n")
        #expect(lines.last == "  did you mean \(meant)? \(Self.help)", "\(lines)")
    }

    @Test("characters that a terminal acts on are escaped")
    func escaped() throws {
        let text = try Self.text(["--x\u{1B}[2J"])
        #expect(!text.unicodeScalars.contains("\u{1B}") && text.contains("\\u{1b}"), "\(text)")
    }

    @Test("the program prints that to stderr without its usage, and ends with 64; help and version go to stdout")
    func program() async throws {
        let home = try Home()
        let refused = try await Program(home, ["--sokcet", home.socket, "--check"])
        #expect(await refused.ended() == 64)
        let expected = """
            authd: Unknown option '--sokcet'
              did you mean `authd --socket \(home.socket) --check`? \(Self.help)

            """
        #expect(await refused.errors() == expected)
        #expect(await refused.output() == "")
        for (word, start) in [("--help", "OVERVIEW: Keeps your"), ("--version", "authd ")] {
            let shown = try await Program(home, [word])
            #expect(await shown.ended() == 0)
            #expect(await shown.output().hasPrefix(start))
            #expect(await shown.errors() == "")
        }
    }
}
