import AuthWire
import Testing

struct JSONWritingTests {
    @Test("a value is written compactly on one line, members in their order")
    func writesCompactly() {
        let value: JSON = ["b": [1, -2.5, nil, true], "a": ["": "x"], "c": [:], "d": []]
        #expect(value.text() == #"{"b":[1,-2.5,null,true],"a":{"":"x"},"c":{},"d":[]}"#)
        #expect(value.serialized() == Array(value.text().utf8))
    }

    @Test("pretty JSON has several lines")
    func writesPretty() {
        let value: JSON = ["a": [1, ["b": nil]], "c": [], "d": [:]]
        #expect(
            value.text(pretty: true) == """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "c": [],
                  "d": {}
                }
                """)
    }

    @Test("only what must be escaped is escaped, and no control character is ever raw")
    func escapes() {
        #expect(JSON.string("a\"b\\c/d\u{7F}é😀").text() == "\"a\\\"b\\\\c/d\u{7F}é😀\"")
        #expect(JSON.string("\u{8}\t\n\u{C}\r\0\u{1F}").text() == #""\b\t\n\f\r\u0000\u001f""#)
        let all = String(String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0) }))
        #expect(JSON.object([all: .string(all)]).serialized().allSatisfy { $0 >= 0x20 })
    }

    @Test(
        "a double is written as the shortest text that reads back the same",
        arguments: [
            0.1, 1.0 / 3, 1e21, 1e22, 1e-7, 123_456_789.125, .leastNonzeroMagnitude, 1.7976931348623157e308, -0.0, 9.5,
            100, 1e16,
            9_007_199_254_740_992, 2.2250738585072014e-308,
        ])
    func writesDoubles(value: Double) throws {
        let text = JSON.number(value).text()
        let back = try JSON(parsing: text)
        guard case .number(let read) = back else {
            Issue.record("\(text) came back as another kind")
            return
        }
        #expect(read.bitPattern == value.bitPattern)
        #expect(text == value.description)
    }

    @Test("a value that is not a number is written as null")
    func writesNoNumber() {
        #expect(JSON.array([.number(.infinity), .number(-.infinity), .number(.nan)]).text() == "[null,null,null]")
    }

    @Test("whole numbers are exact to 64 bits")
    func writesWholeNumbers() throws {
        for text in ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615"] {
            #expect(try JSON(parsing: text).text() == text)
        }
        #expect(JSON(UInt64(5)) == 5)
        #expect(JSON(UInt64.max) == .unsigned(.max))
    }
}
