import AgentTestSupport
import AuthWire
import Testing

@testable import AuthModel

@Suite("The address of the next page")
struct PagingTests {
    /// The examples of RFC 8288 §3.5, and others that its rules allow.
    private static let fields: [(field: String, next: String?)] = [
        (
            #"<http://example.com/TheBook/chapter2>; rel="next"; title="next chapter""#,
            "http://example.com/TheBook/chapter2"
        ),
        (#"</>; rel="http://example.net/foo""#, nil),
        (##"</terms>; rel="copyright"; anchor="#foo""##, nil),
        (
            #"</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; "#
                + #"rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel"#, "/TheBook/chapter4"
        ),
        (#"<http://example.org/>; rel="start http://example.net/relation/other""#, nil),
        (
            #"<https://example.org/>; rel="start", <https://example.org/index>; rel="index next""#,
            "https://example.org/index"
        ),
        ("<?page=2>;rel=next", "?page=2"),
        ("<?page=2> ; REL = \"NEXT\"", "?page=2"),
        (#", ,<a>;rel=prev,,<b>;rel=next,"#, "b"),
        (#"<a,b;c>; title="x\", <evil>; rel=next"; rel=next"#, "a,b;c"),
        (#"<a>; rel=prev; rel=next"#, nil),
        (#"<a>; rel=next; anchor="/other""#, nil),
        (#"<a>; rel="nextpage", <b>; rel=anext"#, nil),
        (#"<a>; rel="next"junk, <b>; rel=next"#, "a"),
        (#"<a>; rel="#, nil), (#"<a>; rel="next"#, "a"), ("<a", nil), ("a; rel=next", nil), ("", nil),
        ("<>;rel=next", ""),
    ]

    @Test(
        "a Link field is read as RFC 8288 says",
        arguments: fields)
    func links(field: String, next: String?) {
        #expect(LinkHeader.target(of: "next", in: field) == next)
    }

    @Test(
        "a hostile Link field does not take long", .timeLimit(.minutes(1)),
        arguments: [
            "<", "<a>;", "<a>,", "<a>; x=\"", "\\", "<a>; rel=\"\\", ";", "<a>;;;;", " ", "\"",
            "<a>; rel=next; anchor=\"x\",",
        ])
    func hostile(part: String) {
        let field = String(repeating: part, count: 1 << 17)
        #expect(LinkHeader.target(of: "next", in: field) == nil)
    }

    /// RFC 3986 §5.4, without fragments.
    private static let pairs: [(reference: String, url: String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("http:g", "http:g"),
        ("https://other.example/x/../y?z", "https://other.example/y?z"),
    ]

    @Test(
        "a reference is resolved as RFC 3986 says",
        arguments: pairs)
    func references(reference: String, url: String) {
        #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == url)
    }

    @Test("a base without a path, or with a port, is resolved against too")
    func bareBase() {
        #expect(URLReference.resolve("g?x", against: "https://a:8443") == "https://a:8443/g?x")
        #expect(URLReference.resolve("?x", against: "https://a") == "https://a?x")
        #expect(URLReference.resolve("//b:1/c", against: "https://a/d") == "https://b:1/c")
    }

    @Test("a separator with a combining mark is a separator all the same")
    func marks() {
        let base = "https://a.example/b/c"
        #expect(URLReference.resolve("d#\u{301}e", against: base) == "https://a.example/b/d")
        #expect(URLReference.resolve("?\u{301}e", against: base) == "https://a.example/b/c?\u{301}e")
        #expect(URLReference.resolve("//\u{301}x/../y", against: base) == "https://\u{301}x/y")
        #expect(URLReference.resolve("/d/../\u{301}e", against: base) == "https://a.example/\u{301}e")
        #expect(URLReference.resolve("../\u{301}e", against: base) == "https://a.example/\u{301}e")
    }

    // MARK: In a response

    private func call(
        next params: String? = nil, _ change: (inout ProviderProfile, inout Endpoint) throws -> Void = { _, _ in }
    ) throws -> PreparedCall {
        var profile = try Sample.profile()
        var endpoint = Endpoint(
            name: "books", request: RequestTemplate(method: "GET", path: try Template(parsing: "/books")))
        try change(&profile, &endpoint)
        return try PreparedCall(
            APICall(endpoint: "books", next: params), endpoint: endpoint, profile: profile,
            environment: profile.environments[0], boundary: "b")
    }

    private static let url = "https://api.example/v1/books"

    @Test("the first place that has an address is used; the Link field counts only if there are no places")
    func places() throws {
        let linked = APIResponse(
            status: 200, headers: ["link": "<?page=2>; rel=next"], body: ["next": .null, "links": ["next": "?c=2"]])
        #expect(try call().nextPage(after: linked, to: Self.url) == Self.url + "?page=2")
        func places(_ texts: [String]) throws -> [JSONPointer] { try texts.map { try JSONPointer($0) } }
        let own = try call { _, endpoint in
            endpoint.pages = PageRule(items: .whole, next: .address(at: try places(["/next", "/links/next"])))
        }
        #expect(own.nextPage(after: linked, to: Self.url) == Self.url + "?c=2")
        let all = try call { profile, _ in profile.api.next = try places(["/next"]) }
        #expect(all.nextPage(after: linked, to: Self.url) == nil)
        let counted = try call { _, endpoint in
            endpoint.pages = PageRule(items: .whole, next: .cursor(argument: "c", at: .whole))
        }
        #expect(counted.nextPage(after: linked, to: Self.url) == nil)
    }

    @Test("a token that the server repeats in the address is left out")
    func tokenInAddress() throws {
        let call = try call { profile, _ in profile.tokenPlace = .query("api key", Template(literal: "")) }
        let response = APIResponse(
            status: 200, headers: ["link": "<?a=1&api%20key=secret&page=2>; rel=next, <?api+key=secret>; rel=last"])
        #expect(call.nextPage(after: response, to: Self.url) == Self.url + "?a=1&page=2")
    }

    @Test("the next page is requested at the endpoint's own origin only, and only for a GET")
    func origins() throws {
        let base = try Sample.profile().environments[0].baseURL
        let next = base + "/elsewhere?page=2"
        #expect(try call(next: next).url == next)
        for other in [
            "https://evil.example/books?page=2", "http:\(base.dropFirst(6))/books", "//evil.example/x", "javascript:x",
        ] {
            let error = #expect(throws: AgentError.self, "\(other)") { try call(next: other) }
            #expect(error?.message.hasSuffix("Nothing was sent.") == true)
        }
        let written = #expect(throws: AgentError.self) {
            try call(next: next) { _, endpoint in endpoint.request.method = "DELETE" }
        }
        #expect(written?.cause == "next")
    }

    @Test("a host of the profile is the origin of the pages of its endpoints")
    func hosts() throws {
        let error = #expect(throws: AgentError.self) {
            try call(next: Sample.profile().environments[0].baseURL + "/books") { profile, endpoint in
                profile.hosts = [ProviderHost(name: "files", addresses: [nil: "https://files.example"])]
                endpoint.request.host = "files"
            }
        }
        #expect(error?.cause == "other_origin")
    }
}
