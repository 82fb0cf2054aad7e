import CommandArguments
import Testing

@Suite("The help of a command")
struct HelpTests {
    @Test("a command with subcommands lists those that are not hidden, and says how to get their help")
    func group() throws {
        #expect(
            try Line.help("note --help") == """
                OVERVIEW: Write notes.

                USAGE: ship note <subcommand>

                OPTIONS:
                  --version               Show the version.
                  -h, --help              Show help information.

                SUBCOMMANDS:
                  add                     Add a note.
                  list (default)          List all notes.

                  See 'ship help note <subcommand>' for detailed help.
                """)
        #expect(try !Line.help("--help").contains("secret"))
        let overview = "OVERVIEW: Send parcels.\n\nTwo lines:\nthis is the second.\n\nUSAGE: "
        #expect(try Line.help("--help").hasPrefix(overview))
    }

    @Test("a command shows a synopsis, then arguments and options with their defaults")
    func command() throws {
        #expect(
            try Line.help("send --help") == """
                OVERVIEW: Send a parcel.

                USAGE: ship send [<options>] <name> [<items> ...] -- [<remarks> ...]

                ARGUMENTS:
                  <name>                  Who gets it.
                  <items>                 What is in it.
                  <remarks>               Words for the driver.

                OPTIONS:
                  --depot <depot>         The depot.
                  -e, --express           Faster.
                  --insure/--no-insure    Insure it. (default: --insure)
                  --signature/--no-signature
                                          Ask for a signature.
                  -w, --weight <kg>       Its weight.
                  --speed <speed>         The speed: slow or fast.
                  -t, --label <label>     A label; repeatable.
                  --currency <currency>   The currency. (default: EUR)
                  --tracking-report [<tracking-report>]
                                          Report the steps.
                  --version               Show the version.
                  -h, --help              Show help information.

                """)
    }

    @Test("the synopsis lists up to twelve options and arguments, unless the configuration replaces it")
    func synopsis() throws {
        #expect(try Line.help("note list --help").contains("USAGE: ship note list [--newest-first]\n"))
        #expect(try Line.help("note add --help").contains("USAGE: ship note add <text> ...\n"))
    }

    @Test("hidden options are in the help only if the line asks for them")
    func hidden() throws {
        #expect(try !Line.help("secret --help").contains("--port"))
        let all = try Line.help("secret --help-hidden")
        #expect(all.contains("USAGE: ship secret [--depot <depot>] [--quiet] [--port <port>]\n"))
        #expect(all.contains("  --port <port>\n") && all.contains("The depot."))
    }
}
