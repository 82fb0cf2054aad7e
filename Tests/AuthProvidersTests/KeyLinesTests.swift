@testable import AuthConfiguration
@testable import AuthProviders
import AuthWire
import Testing

@Suite("Lines of keys")
struct KeyLinesTests {
    private static let document =
        #"""
        # a comment with [brackets] and = signs
        name = "x"          # line 2
        dotted.key.path = 1
        "quoted key" = 2
        'literal.with.dots' = 3
        "esc\u0061ped\"" = 4

        [table]
        a = """
        b = "not a key"
        [neither]
        """
        c = '''
        d = 1'''
        e = [
            1, # ] not the end
            "]", [2, 3],
            { f = 1, g = { h = 2 } },
        ]
        date = 2026-01-30T15:17:41Z
        last = """ends in quotes"""""

        [ spaced . "out table" ]
        i = 1
        [[list]]
        j = 1
        [list.inner]
        k = 1
        [[list]]
        j = 2
        [[list.deep]]
        m = 1
        [[list.deep]]
        m = 2
        [a.b.c]
        n = 1
        """#

    @Test(
        "each kind of key has its line",
        arguments: [
            ("name", 2), ("dotted", 3), ("dotted.key", 3), ("dotted.key.path", 3), (#""quoted key""#, 4),
            (#""literal.with.dots""#, 5), (#""escaped\"""#, 6), ("table", 8), ("table.a", 9), ("table.c", 13),
            ("table.e", 15), ("table.e[0]", 16), ("table.e[1]", 17), ("table.e[2]", 17), ("table.e[2][1]", 17),
            ("table.e[3]", 18), ("table.e[3].f", 18), ("table.e[3].g.h", 18), ("table.date", 20), ("table.last", 21),
            (#"spaced."out table""#, 23), (#"spaced."out table".i"#, 24), ("list[0]", 25), ("list[0].j", 26),
            ("list[0].inner", 27), ("list[0].inner.k", 28), ("list[1]", 29), ("list[1].j", 30),
            ("list[1].deep[0].m", 32), ("list[1].deep[1]", 33), ("list[1].deep[1].m", 34), ("a", 35), ("a.b", 35),
            ("a.b.c.n", 36),
        ])
    func lines(_ path: String, _ line: Int) throws {
        #expect(try KeyLines(Self.document).line(of: path) == line)
    }

    @Test("a missing key has the line of the table around it, or else of the document")
    func missing() throws {
        let lines = try KeyLines(Self.document)
        #expect(lines.line(of: "table.zzz") == 8)
        #expect(lines.line(of: "list[1].deep[1].zzz.y[3]") == 33)
        #expect(lines.line(of: "zzz") == 1)
    }

    @Test("keys on one line keep their order")
    func order() throws {
        let lines = try KeyLines("x = { b = 1, a = 2 }")
        #expect(lines.order(of: "x.b") < lines.order(of: "x.a"))
    }

    /// Why a text is rejected; `nil`: it was read to its end.
    private func refusal(_ text: String) -> KeyScanner.Refusal? {
        do throws(KeyScanner.Refusal) {
            _ = try KeyLines(text)
            return nil
        } catch {
            return error
        }
    }

    private static let tooMuch = [
        "a = 1\n" + String(repeating: "a.", count: 40_000) + "b = 1",
        "a = 1\n[" + String(repeating: "a.", count: 40_000) + "b]",
        "a = 1\nb = " + String(repeating: "[", count: 100_000),
        "a = 1\nb = " + String(repeating: "{a=", count: 50_000),
        "a = 1\n" + String(repeating: "k", count: 300) + " = 1",
        "a = 1\n" + (1...32).map { _ in String(repeating: "k", count: 20) }.joined(separator: ".") + " = 1",
        "a = 1\nb = [" + String(repeating: "0,", count: 100_000) + "]",
        "a = 1\nb = { " + (0..<20_000).map { "k\($0) = 1" }.joined(separator: ", ") + " }",
    ]

    @Test("a text beyond a limit is refused with its line, and the library does not get it", arguments: tooMuch)
    func limits(text: String) {
        #expect(refusal(text)?.line == 2)
        #expect(refusal(text)?.expected.contains("at most") == true)
        guard case .failure(let failure) = ReadingResult.profile(text, source: "deep.toml") else {
            Issue.record("it was read")
            return
        }
        #expect(failure.problems.map(\.line) == [2])
        #expect(failure.problems.first?.expected == refusal(text)?.expected)
    }

    @Test(
        "a text is refused if the scan does not reach its end: the library might continue",
        arguments: [
            // The library skips a byte order mark; what follows would exhaust its stack.
            "\u{FEFF}" + String(repeating: "a.", count: 131_000) + "a = 1",
            "\u{FEFF}[" + String(repeating: "a.", count: 131_000) + "a]",
            "a = 1 " + String(repeating: "[", count: 100_000),
            "[a] " + String(repeating: "b.", count: 100_000),
            "a = [ 1 " + String(repeating: "[", count: 100_000),
            "a = é\n" + String(repeating: "b.", count: 100_000),
            "a = 1\rb" + String(repeating: ".b", count: 100_000) + " = 1",
        ])
    func wholeText(text: String) {
        #expect(refusal(text) != nil)
        guard case .failure = ReadingResult.profile(text, source: "x") else {
            Issue.record("it was read")
            return
        }
    }

    @Test("a byte order mark is skipped at the beginning, and nowhere else")
    func byteOrderMark() throws {
        #expect(try KeyLines("\u{FEFF}a = 1\nb = 2").line(of: "b") == 2)
        #expect(refusal("a = 1\n\u{FEFF}b = 2")?.line == 2)
    }

    @Test("the positions of the largest text use little memory")
    func memory() throws {
        let table = "[" + (1...25).map { _ in String(repeating: "t", count: 19) }.joined(separator: ".") + "]\n"
        let text = table + (0..<(KeyScanner.maxPlaces - 25)).map { "k\($0)=1\n" }.joined()
        let paths = try KeyLines(text).paths
        #expect(paths.count == KeyScanner.maxPlaces)
        #expect(paths.reduce(0) { $0 + $1.utf8.count } < KeyScanner.maxPlaces * KeyScanner.longestPath)
        #expect(refusal(text + "more = 1") != nil)
    }

    @Test("carriage returns do not count twice")
    func carriageReturns() throws {
        let lines = try KeyLines("a = 1\r\nb = \"\"\"\r\nx\r\n\"\"\"\r\nc = 1\r\n")
        #expect(lines.line(of: "c") == 5)
    }

    @Test("an escaped NUL is refused, but not one in a literal string")
    func nul() {
        #expect(refusal("a = 1\nb = \"x\\u0000\"")?.line == 2)
        #expect(refusal("b = 'x\\u0000'\nc = \"\\\\u0000\"") == nil)
    }

    @Test(
        "any other text is refused with what was expected",
        arguments: [
            ("[", "a key"), ("[[", "a key"), ("]", "a key"), ("=", "a key"), ("a", "'='"), ("a =", "a value"),
            ("a = [", "a value"), ("a = {", "a key"), ("a = \"", "the end of a string"),
            ("a = \"\"\"", "the end of a string"),
            ("a = '", "the end of a string"), ("a = \"\\", "the end of a string"), ("a.", "a key"),
            ("a = \"\\u12", "an escaped character"), ("[[a]\n[[a", "']'"), ("a = [1,,2", "a value"),
            ("a = { = }", "a key"), ("\u{0}", "a key"), ("a = }", "a value"), ("é = 1", "a key"),
            ("a = \"\\U0011FFFF\"", "an escaped character"), ("a = \"\\u+123\"", "an escaped character"),
            ("a = \"\\e\"", "one of b t n"), ("a = 1 b = 2", "the end of the line"), ("[a] b", "the end of the line"),
            ("a = \"x\ny\"", "the end of a string"), ("\"\"\"a\"\"\" = 1", "a key on one line"),
            ("a = { b = 1,\nc = 2 }", "a key"), ("a = \"\"\"x\"\"\"\"\"\"", "the end of the line"),
        ])
    func nonsense(_ text: String, _ expected: String) {
        #expect(refusal(text)?.expected.hasPrefix(expected) == true, "\(String(describing: refusal(text)))")
    }

    @Test("an empty text has no keys")
    func empty() throws {
        #expect(try KeyLines("").paths.isEmpty)
        #expect(try KeyLines("").line(of: "zzz") == 1)
    }

    @Test(
        "an invalid value does not reach the library, which would crash with some",
        arguments: [
            "_1", "1_", "1__0", "01", "+01", "0x", "0xg", "+0x1", "0o8", "0b2", "1.", ".5", "1.e5", "1e", "1e5.5",
            "1_.0",
            "True", "infinity", "++1", "1979-05-27T", "1979-05-27T07:32", "1979-05-27 7:32:00", "1979-5-27", "12:30",
            "12:30:00.", "12:30:00Z", "1979-05-27T07:32:00+1:00", "1979-05-27T07:32:00ZZ", "a", "1:2", "--", "...",
        ])
    func badValues(value: String) {
        #expect(refusal("a = \(value)")?.expected.hasPrefix("a string in quotes, a number") == true, "\(value)")
        #expect(refusal("a = [\(value)]") != nil)
    }

    @Test(
        "every kind of value is accepted",
        arguments: [
            "1", "+1", "-17", "0", "1_000", "0xDEAD_beef", "0o755", "0b1101", "1.0", "+1.0", "-0.01", "5e+22", "1e06",
            "6.626e-34", "9_224.617_445", "inf", "-inf", "+nan", "true", "false", "1979-05-27T07:32:00Z",
            "1979-05-27t07:32:00.999-07:00", "1979-05-27 07:32:00z", "1979-05-27T07:32:00", "1979-05-27", "07:32:00.5",
        ])
    func goodValues(value: String) {
        #expect(refusal("a = \(value)") == nil)
        #expect(refusal("a = [\(value), \(value)] # list") == nil)
    }
}
