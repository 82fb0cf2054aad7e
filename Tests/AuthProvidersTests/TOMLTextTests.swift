import AuthConfiguration
import AuthModel
import AuthProviders
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Changes of a TOML text")
struct TOMLTextTests {
    private static let text = #"""
        # Mine.

        store = "memory"   # for tests
        #log_level = "info"
        http.proxy = "none"
        list = [
            1, # one
            2,
        ]
        inline = { a = 1 }
        none = {}

        [api]   # here
        # How much.
        #cache_mib = 16

        [providers."a b".environments]
        mine = "https://api.example"

        [[hook]]
        on = "session.added"
        command = ["/bin/true"]
        """#

    private static func changed(_ path: String, to literal: String, in text: String = text) throws -> [String] {
        var changed = try TOMLText(text)
        try changed.set(try #require(TOMLPath.components(path)), to: literal)
        let (old, new) = (lines(text), lines(changed.text))
        #expect(try changed.json(at: path) == TOMLText("x = \(literal)").json(at: "x"))
        return new.difference(from: old).map { change in
            switch change {
            case .insert(let line, let text, _): "+\(line + 1) \(text)"
            case .remove(let line, let text, _): "-\(line + 1) \(text)"
            }
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("a value is replaced where it is, and its comment stays")
    func replaced() throws {
        #expect(
            try Self.changed("store", to: #""keyring""#) == [
                #"-3 store = "memory"   # for tests"#, #"+3 store = "keyring"   # for tests"#,
            ])
        #expect(try Self.changed("list[1]", to: "7") == ["-8     2,", "+8     7,"])
        #expect(
            try Self.changed("hook[0].on", to: #""x""#) == [#"-21 on = "session.added""#, #"+21 on = "x""#])
        #expect(try Self.changed("inline.a", to: "2") == ["-10 inline = { a = 1 }", "+10 inline = { a = 2 }"])
    }

    @Test("a list of several lines becomes one value")
    func replacedList() throws {
        #expect(try Self.changed("list", to: "[]").filter { $0.hasPrefix("+") } == ["+6 list = []"])
    }

    @Test("a key is added below the comment that shows it, otherwise after the last one of its table")
    func added() throws {
        #expect(try Self.changed("log_level", to: #""debug""#) == [#"+5 log_level = "debug""#])
        #expect(try Self.changed("api.cache_mib", to: "1") == ["+16 cache_mib = 1"])
        #expect(try Self.changed("api.other", to: "1") == ["+14 other = 1"])
        #expect(try Self.changed("socket", to: #""/s""#) == [#"+12 socket = "/s""#])
        #expect(try Self.changed("hook[0].more", to: "1") == ["+23 more = 1", "+24 "])
        #expect(
            try Self.changed(#"providers."a b".environments.two"#, to: "2") == ["+19 two = 2"])
    }

    @Test("a dotted key gets a dotted one beside it, and an inline table one inside")
    func addedBeside() throws {
        #expect(try Self.changed("http.no_proxy", to: "[]") == ["+6 http.no_proxy = []"])
        #expect(
            try Self.changed("inline.b", to: "2") == ["-10 inline = { a = 1 }", "+10 inline = { a = 1, b = 2 }"])
        #expect(try Self.changed("none.b", to: "2") == ["-11 none = {}", "+11 none = { b = 2 }"])
    }

    @Test("a table that is missing is added at the end")
    func addedTable() throws {
        for (path, table, key) in [
            ("other.key", "[other]", "key"),
            (#"providers."a b".default_environment"#, #"[providers."a b"]"#, "default_environment"),
        ] {
            var text = try TOMLText(Self.text)
            try text.set(try #require(TOMLPath.components(path)), to: "1")
            #expect(text.text == Self.text + "\n\n\(table)\n\(key) = 1\n")
        }
        var empty = try TOMLText("")
        try empty.set([.key("http"), .key("proxy")], to: "\"none\"")
        #expect(empty.text == "[http]\nproxy = \"none\"\n")
    }

    @Test("a key of the top level is added before the first table, below the comments at the beginning")
    func addedOnTop() throws {
        var text = try TOMLText("# Mine.\n# All of it.\n\n[api]\n")
        try text.set([.key("store")], to: "1")
        #expect(text.text == "# Mine.\n# All of it.\nstore = 1\n\n[api]\n")
    }

    @Test("a file with CRLF keeps them")
    func carriageReturns() throws {
        var text = try TOMLText("a = 1\r\n[t]\r\nb = 2")
        try text.set([.key("c")], to: "3")
        try text.set([.key("t"), .key("d")], to: "4")
        #expect(text.text == "a = 1\r\nc = 3\r\n[t]\r\nb = 2\r\nd = 4\r\n")
        #expect(try text.unset("c"))
        #expect(text.text == "a = 1\r\n[t]\r\nb = 2\r\nd = 4\r\n")
    }

    @Test("a value without a separate line is refused, and nothing changes")
    func refused() throws {
        var text = try TOMLText(Self.text)
        #expect(throws: TOMLText.Refusal.isTable) { try text.set([.key("api")], to: "1") }
        #expect(throws: TOMLText.Refusal.noElement) {
            try text.set([.key("hook"), .index(1), .key("on")], to: "1")
        }
        #expect(throws: TOMLText.Refusal.isPart) { _ = try text.unset("inline.a") }
        #expect(throws: TOMLText.Refusal.isPart) { _ = try text.unset("list[0]") }
        #expect(throws: TOMLText.Refusal.isTable) { _ = try text.unset("hook[0]") }
        #expect(throws: (any Error).self) { try text.set([.key("store")], to: "\"open") }
        #expect(try !text.unset("other"))
        #expect(text.text == Self.text)
    }

    @Test("all lines of a value are removed, and nothing else")
    func removed() throws {
        var text = try TOMLText(Self.text)
        #expect(try text.unset("list"))
        #expect(try text.unset("store"))
        let rest = Self.lines(Self.text).enumerated().filter { ![2, 5, 6, 7, 8].contains($0.offset) }.map(\.element)
        #expect(Self.lines(text.text) == rest)
    }

    @Test("what looks like the comment of a key inside a value is not its place")
    func commentInsideValue() throws {
        let list = "names = [\n    \"a\",\n    #store = \"old\"\n    \"b\",\n]\n"
        let string = "text = \"\"\"\n#store = 1\n\"\"\"\n"
        for before in [list, string, list + string] {
            #expect(try Self.changed("store", to: "\"new\"", in: before).count == 1)
            var text = try TOMLText(before)
            try text.set([.key("store")], to: "\"new\"")
            #expect(text.text == before + "store = \"new\"\n")
        }
    }

    @Test("a first key does not come between a table and the comment above it")
    func firstKey() throws {
        #expect(try Self.changed("store", to: "1", in: "# Of http.\n[http]\n") == ["+1 store = 1"])
        #expect(try Self.changed("store", to: "1", in: "# Of all.\n\n[http]\n") == ["+2 store = 1"])
    }

    @Test("everything can be read as JSON")
    func json() throws {
        let text = try TOMLText(
            #"""
            a = 0x1F
            b = 1_000
            c = 1.5
            d = true
            e = "\u00e4"
            f = 2026-01-30
            g = [[1], [], [{ h = 'x' }]]
            [[t]]
            u = 1
            [[t]]
            "v w" = 2
            """#)
        #expect(
            text.json() == [
                "a": 31, "b": 1000, "c": 1.5, "d": true, "e": "ä", "f": "2026-01-30",
                "g": [[1], [], [["h": "x"]]], "t": [["u": 1], ["v w": 2]],
            ])
        #expect(text.json(at: "t") == [["u": 1], ["v w": 2]])
        #expect(text.json(at: "t[1]") == ["v w": 2])
        #expect(text.json(at: "g[2]") == [["h": "x"]])
        #expect(text.json(at: "nothing") == nil)
    }

    @Test(
        "a path is read as it is written", arguments: ["a", "a.b-c_1", #"a."b.c".d"#, #""q\"u\\".x[3].y"#, "a[0][1]"])
    func paths(path: String) throws {
        #expect(TOMLPath.text(try #require(TOMLPath.components(path))) == path)
    }

    /// A quote and the mark after it are one character, and so are U+0600 and the quote after it.
    @Test(
        "any key is the same key in its path, and in TOML",
        arguments: [
            "\"\u{301}", "a\"\u{301} = 1", "\\\u{301}", "\\\"\u{301}", "\u{600}\"", ".\u{301}b", "[\u{301}0]",
            "a\nb", "\r\n", "\u{1}\u{1F}\u{7F}\t", "ä\u{2028}😀", "\u{85}\u{200B}\u{E0001}",
        ])
    func anyKey(key: String) throws {
        let path = TOMLPath.element(TOMLPath.join(TOMLPath.join("a", key), "b"), 1)
        let components = try #require(TOMLPath.components(path))
        #expect(components == [.key("a"), .key(key), .key("b"), .index(1)])
        #expect(Array(TOMLPath.text(components).utf8) == Array(path.utf8))
        #expect(VisibleText.line(path) == path)
        var text = try TOMLText("")
        try text.set([.key("a"), .key(key)], to: "1")
        #expect(text.json() == ["a": [key: 1]], "\(text.text)")
        #expect(try TOMLText(text.text).settings(below: "").map(\.path) == [TOMLPath.join("a", key)])
    }

    @Test(
        "no path",
        arguments: [
            "", ".", "a.", ".a", "a..b", "a b", "a[", "a[x]", "a[-1]", "\"a", "[0]", "a]", #""a\x""#,
            #""\u12""#, #""\"#, "\"a\"\u{301}", "a.\u{301}b", "a[\u{301}0]",
        ])
    func noPath(text: String) {
        #expect(TOMLPath.components(text) == nil)
    }

    /// Any change of a generated text, read again, is that change and nothing else.
    @Test("a change of any text changes one value", arguments: 1...300 as ClosedRange<UInt64>)
    func generated(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var lines: [String] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            lines.append(
                ["a = 1", "b = [1, 2]", "# note", "", "c.d = true", "e = { f = 1 }"].randomElement(using: &random) ?? ""
            )
        }
        for name in ["t", "t.u", "v"] where Bool.random(using: &random) {
            lines += ["[\(name)]", "k = 1 # kept", "#l = 2"].prefix(Int.random(in: 1...3, using: &random))
        }
        guard var text = try? TOMLText(lines.joined(separator: "\n")) else { return }
        let before = text.json() ?? [:]
        let path = ["a", "l", "c.z", "e.g", "t.k", "t.l", "t.u.l", "v.l", "w.x"].randomElement(using: &random) ?? "a"
        try text.set(try #require(TOMLPath.components(path)), to: "\"new\"")
        #expect(text.json(at: path) == "new", "\(text.text)")
        guard before != text.json(), try TOMLText(lines.joined(separator: "\n")).value(at: path) == nil else { return }
        // In an inline table.
        guard path != "e.g" || text.value(at: "e") == nil else { return }
        #expect(try text.unset(path))
        #expect(text.json() == before, "\(text.text)")
    }
}
