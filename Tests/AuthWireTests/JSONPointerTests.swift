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
        "it finds nothing if there is nothing",
        arguments: [
            "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/-1", "/foo/+1", "/foo/", "/foo/ 1", "/foo/1e0", "/nope",
            "/foo/0/x", "/foo/99999999999999999999999", "/deep/list/0/x/y", "/e\u{301}", "/foo/٠",
        ])
    func findsNothing(text: String) throws {
        #expect(try JSONPointer(text).find(in: Self.document) == nil)
    }

    @Test(
        "a step in a list can name the first element with a value",
        arguments: [
            ("/flows/id=mfa/pending", true), ("/flows/id=login/n", 1), ("/flows/n=2/id", "login"),
            ("/flows/pending=true/id", "mfa"), ("/flows/a~1b=x=~0y/id", "odd"), ("/flows/id=/n", 5), ("/tags/=b", "b"),
            ("/tags/=3", 3), ("/by/id=mfa", "member"), ("/flows/id=mfa", ["id": "mfa", "pending": true]),
        ] as [(String, JSON)])
    func searches(text: String, value: JSON) throws {
        #expect(try JSONPointer(text).find(in: Self.lists) == value)
    }

    @Test(
        "a step that no element fits finds nothing",
        arguments: [
            "/flows/id=none", "/flows/id", "/flows/id=mfa/none", "/flows/none=mfa", "/flows/gone=null",
            "/flows/list=[1]", "/tags/=B", "/tags/b", "/tags/==b", "/flows/id=e\u{301}", "/by/id=login",
        ])
    func searchesInVain(text: String) throws {
        #expect(try JSONPointer(text).find(in: Self.lists) == nil)
    }

    static let lists: JSON = [
        "flows": [
            7, ["id": "login", "n": 1], ["id": "login", "n": 2], ["id": "mfa", "pending": true],
            ["id": "odd", "a/b": "x=~y", "gone": nil, "list": [1]], ["id": "", "n": 5], ["id": "é"],
        ],
        "tags": ["a", "b", 3], "by": ["id=mfa": "member"],
    ]

    @Test(
        "an invalid pointer is refused with its reason",
        arguments: ["foo", "foo/bar", "/~", "/~2", "/a~", "#/a"])
    func refuses(text: String) {
        #expect(throws: JSONPointerError.self) { try JSONPointer(text) }
    }
}
