import CommandArguments
import Testing

@Suite("Values on a command line")
struct ValueTests {
    @Test("properties without a word on the line have their defaults")
    func defaults() throws {
        let send = try Line.send(["ada"])
        #expect(!send.express && send.insure && send.signature == nil && send.weight == nil && send.speed == .slow)
        #expect(send.labels.isEmpty && send.currency == "EUR" && send.trackingReport == nil && send.receiver == "ada")
        #expect(send.items.isEmpty && send.remarks.isEmpty && send.shared.depot == nil && !send.shared.quiet)
    }

    @Test(
        "the value of an option is the next word, or follows an equals sign",
        arguments: [
            ["--weight", "5", "ada"], ["--weight=5", "ada"], ["-w", "5", "ada"], ["-w=5", "ada"], ["ada", "-w", "5"],
            ["-ew", "5", "ada"], ["-we", "5", "ada"], ["--weight", "4", "ada", "--weight", "5"],
            ["--weight=", "5", "ada"],
        ])
    func option(words: [String]) throws {
        let send = try Line.send(words)
        #expect(send.weight == 5 && send.receiver == "ada" && send.items.isEmpty)
    }

    @Test("letters after one hyphen are flags, and options that get the next words in turn")
    func letters() throws {
        let send = try Line.send(["-wte", "7", "fragile", "ada"])
        #expect(send.weight == 7 && send.labels == ["fragile"] && send.express && send.receiver == "ada")
    }

    @Test("a repeated option keeps all values in their order, or the last one")
    func repeated() throws {
        let send = try Line.send(["-t", "a", "ada", "--label=b", "--currency", "USD", "-t", "", "--currency", "CHF"])
        #expect(send.labels == ["a", "b", ""] && send.currency == "CHF" && send.items.isEmpty)
    }

    @Test("the last of a flag and its opposite counts")
    func opposites() throws {
        #expect(try !Line.send(["ada", "--no-insure"]).insure)
        #expect(try Line.send(["ada", "--no-insure", "--insure"]).insure)
        #expect(try Line.send(["ada", "--signature"]).signature == true)
        #expect(try Line.send(["ada", "--signature", "--no-signature"]).signature == false)
    }

    @Test("an option whose value can be left out gets the next word, unless that is an option")
    func optionalValue() throws {
        #expect(try Line.send(["ada", "--tracking-report"]).trackingReport == "all")
        #expect(try Line.send(["ada", "--tracking-report", "some"]).trackingReport == "some")
        #expect(try Line.send(["--tracking-report=one", "ada"]).trackingReport == "one")
        let send = try Line.send(["ada", "--tracking-report", "-e"])
        #expect(send.trackingReport == "all" && send.express)
        #expect(Line.error("send ada --tracking-report --colour=red") == "Unknown option '--colour'")
        #expect(try Line.send(["ada", "--tracking-report", "--", "x"]).trackingReport == "all")
    }

    @Test("words after two hyphens are values, for the argument that is declared for them")
    func terminator() throws {
        let send = try Line.send(["ada", "book", "--", "-e", "--weight=x", "--", "bell"])
        #expect(send.items == ["book"] && send.remarks == ["-e", "--weight=x", "--", "bell"] && !send.express)
        guard case .command(let command) = try Line.parse(["note", "add", "--order=1", "a", "--", "-b", "--"]),
            let note = command as? Note.Add
        else { throw Line.OtherLine() }
        #expect(note.text == ["a", "-b", "--"] && note.order == 1)
    }

    @Test("an empty word, a hyphen and any text are values")
    func unusualValues() throws {
        let text = "Zürich 🚲 \u{FFFD} a=b\n"
        let send = try Line.send(["", "-", text, "--currency", ""])
        #expect(send.receiver == "" && send.items == ["-", text] && send.currency == "")
    }

    @Test("a negative number must follow an equals sign: a word that begins with a hyphen is an option")
    func negative() throws {
        #expect(try Line.send(["ada", "--weight=-5"]).weight == -5)
        #expect(Line.error("send ada --weight -5") == "Missing value for '--weight <kg>'\n--weight <kg>  Its weight.")
    }

    @Test("a function makes a value, and properties of a group are set")
    func otherValues() throws {
        let send = try Line.send(["ada", "--speed", "fast", "--depot", "north", "--quiet"])
        #expect(send.speed == .fast && send.shared.depot == "north" && send.shared.quiet)
    }

    @Test("the long name has hyphens between the words of the property's name, and acronyms stay together")
    func names() throws {
        struct Names: ParsableCommand {
            static let configuration = CommandConfiguration(commandName: "names")
            @Flag(help: "") var minValid = false
            @Flag(help: "") var baseURLPath = false
            @Flag(help: "") var toHTTP = false
            @Flag(help: "") var part2Only = false
        }
        let names = CommandDescription([Names.self]).allArguments.flatMap(\.names).map(\.text)
        #expect(names == ["--min-valid", "--base-url-path", "--to-http", "--part2-only", "-h", "--help"])
    }
}
