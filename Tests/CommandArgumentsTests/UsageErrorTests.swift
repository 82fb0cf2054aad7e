import CommandArguments
import Testing

@Suite("Mistakes on a command line")
struct UsageErrorTests {
    @Test(
        "the message says what is wrong, and the explanation what the option or argument is for",
        arguments: [
            ("send", "Missing expected argument '<name>'\n<name>  Who gets it."),
            ("note add a", "Missing expected argument '--order <order>'\n--order <order>  The order's number."),
            ("note add --order 1", "Missing expected argument '<text> ...'\n<text>  Its words."),
            ("send ada --weight", "Missing value for '--weight <kg>'\n--weight <kg>  Its weight."),
            ("send ada -w", "Missing value for '-w <kg>'\n-w <kg>  Its weight."),
            ("send ada --weight -e", "Missing value for '--weight <kg>'\n--weight <kg>  Its weight."),
            ("send ada -w -- 5", "Missing value for '-w <kg>'\n-w <kg>  Its weight."),
            ("send ada --weight five", "The value 'five' is invalid for '--weight <kg>'\n--weight <kg>  Its weight."),
            ("send ada -w=1e3", "The value '1e3' is invalid for '-w <kg>'\n-w <kg>  Its weight."),
            (
                "send ada --speed odd",
                "The value 'odd' is invalid for '--speed <speed>': 'odd' is not a speed.\n"
                    + "--speed <speed>  The speed: slow or fast."
            ),
            (
                "note add --order 99999999999 a",
                "The value '99999999999' is invalid for '--order <order>'\n--order <order>  The order's number."
            ),
            ("send ada --express=yes", "The option '--express' does not take any value, but 'yes' was specified."),
            ("send ada -e=yes", "The option '-e' does not take any value, but 'yes' was specified."),
            ("note list x", "Unexpected argument 'x'"), ("note list x -- y", "2 unexpected arguments: 'x', 'y'"),
            ("nothing", "Unexpected argument 'nothing'"), ("-- note", "Unexpected argument 'note'"),
            ("---x", "Invalid option: ---x"), ("send -=x", "Invalid option: -=x"), ("send ---", "Invalid option: ---"),
            ("send ada -ew 500", "Too heavy for --express."), ("secret --port", "Missing value for '--port'"),
            ("secret --port x", "The value 'x' is invalid for '--port'"),
        ])
    func message(line: String, expected: String) {
        #expect(Line.error(line) == expected)
    }

    @Test(
        "an unknown option is named, with a similar one",
        arguments: [
            ("send ada --wieght 5", "Unknown option '--wieght'. Did you mean '--weight'?"),
            ("send ada --no-insur", "Unknown option '--no-insur'. Did you mean '--no-insure'?"),
            ("send ada --colour=red", "Unknown option '--colour'"), ("send ada -x", "Unknown option '-x'"),
            ("send ada --quie", "Unknown option '--quie'"), ("send ada -ex", "Unknown option '-x'"),
            ("send ada -express", "Unknown option '-x'"), ("--bogus", "Unknown option '--bogus'"),
            ("note --bogus", "Unknown option '--bogus'"), ("send ada --=x", "Unknown option '--'"),
            ("help --bogus", "Unknown option '--bogus'"),
            ("send ada -ws", "Unknown option '-ws'\n   or: Missing value for '-w <kg>' in '-ws'"),
        ])
    func unknown(line: String, expected: String) {
        #expect(Line.error(line) == expected)
    }

    @Test("one mistake is reported: a wrong value, a missing argument, values that do not fit, or words left over")
    func order() {
        #expect(Line.error("send --bogus --weight five")?.hasPrefix("The value 'five'") == true)
        #expect(Line.error("send --bogus --express")?.hasPrefix("Missing expected argument '<name>'") == true)
        #expect(Line.error("send ada --bogus -ew 500") == "Too heavy for --express.")
        #expect(Line.error("note list x --bogus") == "Unknown option '--bogus'")
    }

    @Test("a group checks its values before the command does, and before a missing argument is reported")
    func groups() {
        let words = ["send", "--depot", "", "-ew", "500"]
        #expect(throws: UsageError.refused("The depot has no name.")) { try Line.parse(words) }
    }

    @Test(
        "only a line without a required word is incomplete",
        arguments: [("send", true), ("send ada -w", true), ("send --bogus ada", false), ("send ada -w x", false)])
    func incomplete(line: String, expected: Bool) {
        #expect {
            try Line.parse(Line.words(line))
        } throws: { error in
            (error as? UsageError)?.isIncomplete == expected
        }
    }
}
