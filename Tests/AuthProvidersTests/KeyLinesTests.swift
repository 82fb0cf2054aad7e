@testable import AuthProviders
import AuthWire
import Testing

@Suite("Lines of keys")
struct KeyLinesTests {
    private let lines = KeyLines(
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
        """#)

    @Test(
        "each kind of key has its own",
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
    func lines(_ path: String, _ line: Int) {
        #expect(lines.line(of: path) == line)
    }

    @Test("a key that is not there is looked for in the table around it, and at last in the document")
    func missing() {
        #expect(lines.line(of: "table.zzz") == 8)
        #expect(lines.line(of: "list[1].deep[1].zzz.y[3]") == 33)
        #expect(lines.line(of: "zzz") == 1)
    }

    @Test("keys on one line keep their order")
    func order() {
        let lines = KeyLines("x = { b = 1, a = 2 }")
        #expect(lines.order(of: "x.b") < lines.order(of: "x.a"))
    }

    @Test(
        "what is nested too deeply for any parser is told with its line, and not looked at",
        arguments: [
            "a = 1\n" + String(repeating: "a.", count: 40_000) + "b = 1",
            "a = 1\n[" + String(repeating: "a.", count: 40_000) + "b]",
            "a = 1\nb = " + String(repeating: "[", count: 100_000),
            "a = 1\nb = " + String(repeating: "{a=", count: 50_000),
        ])
    func tooDeep(text: String) {
        #expect(KeyLines(text).tooDeepLine == 2)
        guard case .failure(let failure) = ProfileReader.read(text, source: "deep.toml") else {
            Issue.record("it was read")
            return
        }
        #expect(failure.problems.map(\.line) == [2])
        #expect(failure.problems.first?.expected.contains("in one another") == true)
    }

    @Test("carriage returns do not count twice")
    func carriageReturns() {
        let lines = KeyLines("a = 1\r\nb = \"\"\"\r\nx\r\n\"\"\"\r\nc = 1\r\n")
        #expect(lines.line(of: "c") == 5)
    }

    @Test("an escaped NUL is found, and one that is only written so in a literal string is none")
    func nul() {
        #expect(KeyLines("a = 1\nb = \"x\\u0000\"").nulLine == 2)
        #expect(KeyLines("b = 'x\\u0000'\nc = \"\\\\u0000\"").nulLine == nil)
    }

    @Test(
        "any other text ends the scan and nothing else",
        arguments: [
            "", "[", "[[", "]", "=", "a", "a =", "a = [", "a = {", "a = \"", "a = \"\"\"", "a = '", "a = \"\\", "a.",
            "a = \"\\u12", "[[a]\n[[a", "a = [1,,2", "a = { = }", "\u{0}", "a = }", "é = 1", "a = \"\\U0011FFFF\"",
        ])
    func nonsense(_ text: String) {
        #expect(KeyLines(text).line(of: "zzz") == 1)
    }
}
