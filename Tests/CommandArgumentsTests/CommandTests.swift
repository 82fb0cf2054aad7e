import CommandArguments
import Testing

@Suite("Commands on a command line")
struct CommandTests {
    @Test(
        "the first words name the command, and a default one needs no name",
        arguments: [
            ("send ada", "send"), ("note add --order 1 a", "add"), ("note list", "list"), ("note", "list"),
            ("note --newest-first", "list"), ("note --", "list"), ("secret", "secret"),
        ])
    func command(line: String, name: String) throws {
        guard case .command(let command) = try Line.parse(Line.words(line)) else { throw Line.OtherLine() }
        #expect(type(of: command).configuration.commandName == name)
    }

    @Test(
        "help is shown for a command with subcommands, and if a line asks for it, even with some mistakes",
        arguments: [
            ("", "ship <subcommand>"), ("--help", "ship <subcommand>"), ("-h", "ship <subcommand>"),
            ("help", "ship <subcommand>"), ("help note", "ship note <subcommand>"),
            ("help note add x", "ship note add"),
            ("note --help", "ship note <subcommand>"), ("note x --help", "ship note list"),
            ("note add --help", "ship note add <text> ..."), ("send --help", "ship send [<options>]"),
            ("send --bogus --help", "ship send [<options>]"), ("send -eh", "ship send [<options>]"),
            ("send ada -ew 500 --help", "ship send [<options>]"),
            ("send ada --depot= x --help", "ship send [<options>]"),
        ])
    func help(line: String, synopsis: String) throws {
        #expect(try Line.help(line).contains("USAGE: \(synopsis)"))
    }

    @Test(
        "the version is that of the program, for every command",
        arguments: ["--version", "send --version", "note --version"])
    func version(line: String) throws {
        guard case .version("1.2.3") = try Line.parse(Line.words(line)) else { throw Line.OtherLine() }
    }

    @Test("a program with one command has no command for help")
    func single() throws {
        let line = try CommandParser.parse(["help"], root: Send.self)
        guard case .command(let command as Send) = line else { throw Line.OtherLine() }
        #expect(command.receiver == "help")
    }

    @Test("after two hyphens, no word asks for help")
    func notHelp() throws {
        #expect(try Line.send(["ada", "--", "--help", "--version"]).remarks == ["--help", "--version"])
    }
}
