import Testing

@testable import AuthWire

@Suite("Objects whose members are listed once")
struct WireObjectTests {
    /// One member of each manner.
    private struct Sample: WireObject {
        var name = ""
        var size: Int?
        var retry = true
        var tags: [String] = []
        var inner: Inner?
        var list: [Inner] = []
        var any: JSON?

        init(blank: Blank) {}

        mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
            try visitor.required("name", &name, .string)
            try visitor.optional("size", &size, .count)
            try visitor.optional("retry", &retry, .bool, default: true)
            try visitor.written("tags", &tags, .strings)
            try visitor.optional("inner", &inner, .object)
            try visitor.optional("list", &list, .list(), default: [])
            try visitor.optional("any", &any, .anyOrNull)
        }
    }

    private struct Inner: WireObject {
        var pid: Int32 = 0

        init(blank: Blank) {}

        mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
            try visitor.required("pid", &pid, .processID)
        }

        func validate() throws(AgentError) {
            guard pid != 13 else { throw .invalidParams("13") }
        }
    }

    @Test("an object is read back from what is written, with every member and with the fewest")
    func roundTrips() throws {
        let whole: JSON = [
            "name": "a", "size": 1, "retry": false, "tags": ["b"], "inner": ["pid": 2], "list": [["pid": 3]],
            "any": nil,
        ]
        let sample = try Sample(whole)
        #expect(sample.name == "a" && sample.size == 1 && !sample.retry && sample.tags == ["b"])
        #expect(sample.inner?.pid == 2 && sample.list.map(\.pid) == [3] && sample.any == .null)
        #expect(sample.json == whole)
        let least = try Sample(["name": "a"])
        #expect(least.json == ["name": "a", "tags": []])
        #expect(try Sample(least.json) == least)
    }

    @Test("null is the same as an absent key")
    func null() throws {
        #expect(try Sample(["name": "a", "size": nil, "retry": nil, "tags": nil]) == Sample(["name": "a"]))
        #expect(throws: AgentError.self) { try Sample(["name": nil]) }
    }

    @Test(
        "an error names the key and what was expected",
        arguments: [
            ([:], "name: expected a string, found nothing."),
            (["name": 1], "name: expected a string, found a number."),
            (["name": "a", "size": -1], "size: expected a whole number, 0 or more, found a number."),
            (["name": "a", "inner": 1], "inner: expected an object, found a number."),
            (["name": "a", "inner": [:]], "pid: expected a process id, found nothing."),
            (["name": "a", "list": [1]], "list: expected an array of objects, found an array."),
        ] as [(JSON, String)])
    func errors(json: JSON, message: String) {
        let result = #expect(throws: AgentError.self) { try Sample(json) }
        #expect(result == .internalError("The agent's result: \(message)"))
        let params = #expect(throws: AgentError.self) { try Sample(json.objectValue ?? [:], from: .params) }
        #expect(params == .invalidParams("params.\(message)"))
    }

    @Test("what the members must satisfy together is checked inside too")
    func validates() {
        #expect(throws: AgentError.invalidParams("13")) { try Sample(["name": "a", "list": [["pid": 13]]]) }
    }

    @Test("the members are described in the order in which they are written")
    func describes() {
        let list = Sample.memberList
        #expect(list.map(\.name) == ["name", "size", "retry", "tags", "inner", "list", "any"])
        #expect(list.map(\.type) == [.string, .integer, .boolean, .array, .object, .array, .any])
        #expect(list.filter(\.isRequired).map(\.name) == ["name"])
    }
}
