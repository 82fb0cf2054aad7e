import AuthWire
import Testing

struct JSONValueTests {
    @Test("members keep their order, and a key that is set again keeps its place")
    func keepsOrder() {
        var object: JSONObject = ["b": 1, "a": 2, "c": 3]
        object["a"] = 9
        object["b"] = nil
        object["b"] = 4
        #expect(object.keys == ["a", "c", "b"])
        #expect(object.map { $0.value } == [9, 3, 4])
        #expect(object.count == 3 && !object.isEmpty)
    }

    @Test("many members are found, replaced and removed as few are")
    func handlesManyMembers() {
        var object = JSONObject()
        for number in 0..<1000 { object["k\(number)"] = .integer(Int64(number)) }
        for number in stride(from: 0, to: 1000, by: 2) { object["k\(number)"] = nil }
        for number in stride(from: 1, to: 1000, by: 4) { object["k\(number)"] = "new" }
        #expect(object.count == 500)
        #expect(object["k0"] == nil && object["k1"] == "new" && object["k3"] == 3 && object["k999"] == 999)
        for key in object.keys.dropFirst(3) { object[key] = nil }
        #expect(object.keys == ["k1", "k3", "k5"])
        #expect(object["k3"] == 3)
    }

    @Test("objects are equal whatever the order of their members")
    func comparesWithoutOrder() {
        #expect(JSON.object(["a": 1, "b": 2]) == ["b": 2, "a": 1])
        #expect(JSON.object(["a": 1]) != ["a": 1, "b": 2])
        #expect(JSON.object(["a": 1]) != ["b": 1])
    }

    @Test("two spellings of a letter are two keys and two values")
    func comparesBytes() {
        let object: JSONObject = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(object.count == 2)
        #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
        #expect(JSON.string("\u{E9}") != .string("e\u{301}"))
        var many = object
        for number in 0..<40 { many["k\(number)"] = 0 }
        #expect(many["\u{E9}"] == 1 && many["e\u{301}"] == 2)
    }

    @Test("a value has one type")
    func givesWhatItIs() {
        #expect(JSON.integer(3).integerValue == 3 && JSON.number(3).integerValue == 3)
        #expect(JSON.number(3.5).integerValue == nil && JSON.unsigned(.max).integerValue == nil)
        #expect(JSON.number(1e300).integerValue == nil && JSON.string("3").integerValue == nil)
        #expect(JSON.integer(3).doubleValue == 3 && JSON.unsigned(.max).doubleValue == 18446744073709551615.0)
        #expect(JSON.bool(true).boolValue == true && JSON.integer(1).boolValue == nil)
        #expect(JSON.null.isNull && !JSON.bool(false).isNull && JSON.null.stringValue == nil)
        let value: JSON = ["a": [10, 20]]
        #expect(value["a"]?[1] == 20 && value["a"]?[2] == nil && value["a"]?[-1] == nil && value["b"] == nil)
        #expect(value[0] == nil && value["a"]?["x"] == nil)
    }
}
