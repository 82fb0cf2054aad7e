import AuthWire
import Testing

@Suite("What a peer's JSON may cost")
struct JSONBudgetTests {
    @Test(
        "every value counts, arrays and objects too, and keys do not",
        arguments: [("0", 1), ("[]", 1), ("[1,2]", 3), (#"{"a":{"b":[null,true,"x"]}}"#, 6), (#"[{"":0},{"":0}]"#, 5)])
    func counted(text: String, values: Int) throws {
        let bytes = Array(text.utf8)
        #expect(try JSON(parsing: bytes, values: values) == JSON(parsing: bytes))
        let error = #expect(throws: JSONError.self) { try JSON(parsing: bytes, values: values - 1) }
        #expect(error?.isTooLarge == true)
    }

    @Test("several texts share one limit, and a refused text counts, too")
    func shared() throws {
        var values = 7
        #expect(try JSON(parsing: "[1,2]", subtractingFrom: &values) == [1, 2])
        #expect(values == 4)
        let wrong = #expect(throws: JSONError.self) { try JSON(parsing: "[1,x]", subtractingFrom: &values) }
        #expect(wrong?.isTooLarge == false && values == 1)
        let large = #expect(throws: JSONError.self) { try JSON(parsing: "[1]", subtractingFrom: &values) }
        #expect(large?.isTooLarge == true && values == 0)
    }

    @Test("a megabyte of text ends at the limit, and an error before it is reported")
    func large() throws {
        let bytes = Array(("[" + String(repeating: #"{"":0},"#, count: 150_000) + "0]").utf8)
        let error = #expect(throws: JSONError.self) { try JSON(parsing: bytes, values: Limits.jsonValues) }
        #expect(error?.isTooLarge == true && error?.offset ?? .max < bytes.count / 4)
        let wrong = #expect(throws: JSONError.self) { try JSON(parsing: Array("[1,2,x]".utf8), values: 3) }
        #expect(wrong?.isTooLarge == true)
        let early = #expect(throws: JSONError.self) { try JSON(parsing: Array("[1,x,2]".utf8), values: 3) }
        #expect(early?.isTooLarge == false)
    }

    @Test("compact JSON is the same JSON without the space, text and numbers as they were")
    func compact() throws {
        let text = " { \"a b\" : [ 1.0 , -0 ,\n\t\"x \\u00e9 é\" ] ,\r\n \"a b\":{ } } "
        let compact = try JSON.compacted(Array(text.utf8).span)
        #expect(String(decoding: compact, as: UTF8.self) == #"{"a b":[1.0,-0,"x \u00e9 é"],"a b":{}}"#)
        for (text, value) in JSONTableTests.accepted {
            #expect(try JSON(parsing: JSON.compacted(Array(text.utf8).span)) == value, "\(text)")
        }
        for text in JSONTableTests.refused {
            #expect(throws: JSONError.self, "\(text)") { try JSON.compacted(Array(text.utf8).span) }
        }
        let deep = String(repeating: "[", count: 129) + String(repeating: "]", count: 129)
        #expect(throws: JSONError.self) { try JSON.compacted(Array(deep.utf8).span) }
        #expect(try JSON.compacted(Array(deep.utf8.dropFirst().dropLast()).span).count == 256)
    }

    @Test("an answer whose body is text is written as one whose body is a value")
    func response() throws {
        var value = APIResponse(status: 200, headers: ["a": "b"], body: ["x": [1, "y"]], fromCache: true, ageMs: 3)
        let expected = value.json
        #expect(try JSON(parsing: value.rendered) == expected)
        value.body = nil
        value.bodyText = Array(#"{"x":[1,"y"]}"#.utf8)
        #expect(try JSON(parsing: value.rendered) == expected)
        #expect(value.json == expected)
    }
}
