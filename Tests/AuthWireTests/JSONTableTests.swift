import AuthWire
import Testing

/// One text a row, as the public parsing test suites have them: what RFC 8259 says of it.
struct JSONTableTests {
    static let accepted: [(text: String, value: JSON)] = [
        ("null", nil), ("true", true), ("false", false),
        (" \t\n\r0 \t\n\r", 0), ("[]", []), ("{}", [:]), ("[ ]", []), ("{ }", [:]),
        ("[1,2]", [1, 2]), (" [ 1 , 2 ] ", [1, 2]), ("[[],[[]],{}]", [[], [[]], [:]]),
        (#"{"a":1}"#, ["a": 1]), (#"{ "a" : { "b" : [ null ] } }"#, ["a": ["b": [nil]]]),
        (#"{"":0}"#, ["": 0]), (#"{"a":1,"a":2}"#, ["a": 2]), (#"{"a":1,"\u0061":2}"#, ["a": 2]),
        (#"{"a":{"b":1},"a":{}}"#, ["a": [:]]),

        ("0", 0), ("7", 7), ("-1", -1), ("10", 10), ("-0", .number(-0.0)), ("0.0", .number(0)), ("-0.0", .number(-0.0)),
        ("0e0", .number(0)), ("0E+0", .number(0)), ("1.5", 1.5), ("1e2", 100.0), ("1E-2", 0.01), ("1.0", 1.0),
        ("-1.25e+3", -1250.0), ("1e00002", 100.0), ("0.1", 0.1), ("123456789.123456789", 123456789.123456789),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)),
        ("18446744073709551615", .unsigned(.max)),
        ("9007199254740993", .integer(9_007_199_254_740_993)),
        ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
        ("5e-324", .number(.leastNonzeroMagnitude)), ("2.2250738585072014e-308", .number(.leastNormalMagnitude)),

        (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u0000""#, "\0"), (#""\u00e9\u00E9""#, "\u{E9}\u{E9}"), (#""\u20AC""#, "€"), (#""\ud83d\ude00""#, "😀"),
        (#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10FFFF}"), (#""\uFFFF\uFFFE\uFEFF""#, "\u{FFFF}\u{FFFE}\u{FEFF}"),
        ("\"\u{7F}\"", "\u{7F}"), ("\"é€😀\u{2028}\"", "é€😀\u{2028}"), (#""a/b""#, "a/b"), (#""\\u0041""#, "\\u0041"),
        ("\"e\\u0301\"", "e\u{301}"),
        (#""plain text of more than eight bytes\n""#, "plain text of more than eight bytes\n"),
        (#""[{,:}]""#, "[{,:}]"),
    ]

    static let refused: [String] = [
        "", " ", "\n", "nul", "nulll", "True", "NULL", "undefined", "NaN", "Infinity", "-Infinity", "'a'", "a",
        "\u{FEFF}1",
        "1 2", "[] []", "{}x", "[1]]", "\"a\" \"b\"", "1,", ",", ":", "]", "}", "[", "{", "[1", "[1,", "[,", "[,1]",
        "[1,]",
        "[1,,2]", "[1 2]", "[1:2]", "{1:2}", "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,"a":1}"#,
        #"{"a" 1}"#,
        #"{"a":1 "b":2}"#, #"{"a":1"#, #"{"a":"#, #"{"a""#, #"{"a":1]"#, "[1}", #"{"a",1}"#, #"{"a"::1}"#, "{null:1}",
        "{[]:1}",
        "/* x */1", "1//x", "#1", "[1]/**/",

        "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "1e1.5", "0x10", "1_000", "1,5",
        "--1",
        "- 1", "1e400", "-1e400", "1e99999999999", "٣", "１", "1a", "0e", "0.e1", "2.", "1+1", "Inf",

        "\"", "\"a", #""\"#, #""\""#, #""\x41""#, #""\a""#, #""\'""#, #""\U0041""#, #""\u""#, #""\u004""#, #""\u00g0""#,
        #""\u+041""#, #""\u 041""#, #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#,
        #""\ud83d\u0041""#, #""\udc00\ud800""#, #""\ud83d\ude0""#, #""\ud83d\\ude00""#, "\"\n\"", "\"\t\"", "\"\0\"",
        "\"\u{1F}\"",
        "\"a\nlong enough for eight\"", "\"long enough for eight\u{1}\"", #"{"a\nb":1, "c"#, "\"\\\u{E9}\"", "\u{A0}1",
        "\u{2028}1",
        "\u{B}1", "\u{C}1", "1\0",
    ]

    static let refusedBytes: [[UInt8]] = [
        [0xEF, 0xBB, 0xBF, 0x31],  // byte order mark
        [0xFE, 0xFF, 0x00, 0x31], [0xFF, 0xFE, 0x31, 0x00], [0x00, 0x31], [0x31, 0x00],  // UTF-16
        quoted([0x80]), quoted([0xBF]), quoted([0xFF]), quoted([0xFE]), quoted([0xC3]), quoted([0xE2, 0x82]),
        quoted([0xF0, 0x9F, 0x98]), quoted([0xC0, 0xAF]), quoted([0xC1, 0xBF]), quoted([0xE0, 0x80, 0xAF]),  // overlong
        quoted([0xE0, 0x9F, 0xBF]), quoted([0xF0, 0x80, 0x80, 0xAF]), quoted([0xF0, 0x8F, 0xBF, 0xBF]),
        quoted([0xED, 0xA0, 0x80]), quoted([0xED, 0xBF, 0xBF]),  // surrogates as bytes
        quoted([0xF4, 0x90, 0x80, 0x80]), quoted([0xF5, 0x80, 0x80, 0x80]), quoted([0xF8, 0x88, 0x80, 0x80, 0x80]),
        quoted([0xC3, 0x28]), quoted([0xC3] + Array(#"\u00a9"#.utf8)), quoted([0x5C, 0x80]),
        quoted(Array("a long run of plain text".utf8) + [0xE9]),
        [0x7B] + quoted([0xE9]) + [0x3A, 0x31, 0x7D], [0x80], [0x5B, 0xE9, 0x5D],
    ]

    /// RFC 8259 leaves these to the reader (§6, §9); what ours does is a promise too.
    static let either: [(text: String, value: JSON)] = [
        ("1e-400", .number(0)), ("-1e-400", .number(-0.0)),
        ("18446744073709551616", .number(18_446_744_073_709_551_616)),
        ("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
        ("0.10000000000000000555111512312578", 0.1),
        ("{\"\u{E9}\":1,\"e\u{301}\":2}", ["\u{E9}": 1, "e\u{301}": 2]),
    ]

    static func quoted(_ bytes: [UInt8]) -> [UInt8] { [0x22] + bytes + [0x22] }

    @Test("a valid text is read as its value", arguments: accepted + either)
    func accepts(text: String, value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
        #expect(try JSON(parsing: Array(text.utf8)) == value)
        #expect(try JSON(parsing: Array(text.utf8)[...]) == value)
        #expect(try JSON(parsing: text.utf8) == value)
        #expect(try JSON(parsing: text.utf8.reversed().reversed()) == value)
    }

    @Test("a text outside of the grammar is refused, with a place inside it", arguments: refused)
    func refuses(text: String) {
        let error = #expect(throws: JSONError.self) { try JSON(parsing: text) }
        #expect((0...text.utf8.count).contains(error?.offset ?? -1))
    }

    @Test("bytes that are not UTF-8 are refused", arguments: refusedBytes)
    func refusesBytes(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
    }

    @Test("a valid text that is cut anywhere is refused, unless it is a shorter number")
    func refusesEveryBeginning() {
        for (text, value) in Self.accepted where value.doubleValue == nil {
            let bytes = Array(text.utf8)
            let end = bytes.lastIndex { ![0x20, 0x0A, 0x0D, 0x09].contains($0) } ?? 0
            for length in 0..<end {
                #expect(throws: JSONError.self, "\(text) cut to \(length)") { try JSON(parsing: bytes[..<length]) }
            }
        }
    }

    @Test("zero keeps its sign")
    func keepsTheSignOfZero() throws {
        #expect(try JSON(parsing: "-0").doubleValue?.sign == .minus)
        #expect(try JSON(parsing: "-0").text() == "-0.0")
        #expect(try JSON(parsing: "0").text() == "0")
    }

    @Test("128 levels are read and 129 refused, of arrays and of objects, at once for a million")
    func boundsNesting() throws {
        let arrays = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        let objects = { (depth: Int) in
            String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
        }
        #expect(try JSON(parsing: arrays(128)).text() == arrays(128))
        #expect(try JSON(parsing: objects(128)).text() == objects(128))
        #expect(throws: JSONError.self) { try JSON(parsing: arrays(129)) }
        #expect(throws: JSONError.self) { try JSON(parsing: objects(129)) }
        #expect(throws: JSONError(offset: 128, reason: "nested deeper than 128 levels")) {
            try JSON(parsing: String(repeating: "[", count: 1_000_000))
        }
    }

    @Test("siblings do not count as nesting")
    func countsOnlyDepth() throws {
        let text = "[" + Array(repeating: "[[]]", count: 1000).joined(separator: ",") + "]"
        #expect(try JSON(parsing: text).arrayValue?.count == 1000)
    }

    @Test("an error names the byte at fault and holds nothing of the text")
    func namesOffset() {
        #expect(throws: JSONError(offset: 5, reason: "expected ',' or ']'")) { try JSON(parsing: "[1, 2") }
        #expect(throws: JSONError(offset: 3, reason: "a string is not UTF-8")) {
            try JSON(parsing: [0x5B, 0x22, 0x61, 0xFF, 0x22, 0x5D])
        }
        #expect(throws: JSONError(offset: 2, reason: "half of a surrogate pair")) { try JSON(parsing: #""a\ud800""#) }
        #expect(JSONError(offset: 7, reason: "a string has no end").description == "a string has no end at byte 7")
    }
}
