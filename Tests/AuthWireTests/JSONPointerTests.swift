import AuthWire
import Testing

struct JSONPointerTests {
    static let document: JSON = [
        "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7, "~1": 5, "deep": ["list": [["x": nil]]],
        "01": "text", "é": 3,
    ]

    @Test(
        "a pointer finds what RFC 6901 says",
        arguments: [
            ("/foo/0", "bar"), ("/foo/1", "baz"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/m~0n", 8), ("/ ", 7),
            ("/~01", 5), ("/deep/list/0/x", nil), ("/01", "text"), ("/é", 3), ("", document),
        ] as [(String, JSON)])
    func finds(text: String, value: JSON) throws {
        let pointer = try JSONPointer(text)
        #expect(pointer.find(in: Self.document) == value)
        #expect(pointer.text == text)
    }

    @Test(
        "where there is nothing it finds nothing",
        arguments: [
            "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/-1", "/foo/+1", "/foo/", "/foo/ 1", "/foo/1e0", "/nope",
            "/foo/0/x", "/foo/99999999999999999999999", "/deep/list/0/x/y", "/e\u{301}", "/foo/٠",
        ])
    func findsNothing(text: String) throws {
        #expect(try JSONPointer(text).find(in: Self.document) == nil)
    }

    @Test(
        "a text that is no pointer is refused with its reason",
        arguments: ["foo", "foo/bar", "/~", "/~2", "/a~", "#/a"])
    func refuses(text: String) {
        #expect(throws: JSONPointerError.self) { try JSONPointer(text) }
    }
}
