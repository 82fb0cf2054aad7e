import AuthModel
import AuthProviders
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Endpoints of a profile")
struct EndpointReaderTests {
    private static let head = """
        name = "library"
        [environments]
        local = "http://localhost:1"
        [sign_in.card.request]
        method = "POST"
        path = "/sessions"
        [sign_in.card]
        fields = []
        [reply]
        access_token = "/token"
        user = "/user"
        [user]
        id = "/id"
        [renewal]
        kind = "none"

        """

    private static let headLines = 15

    private func read(_ text: String) -> Result<ProviderProfile, ProfileProblems> {
        ReadingResult.profile(Self.head + text, source: "library.toml")
    }

    private func problems(_ text: String) -> [String] {
        guard case .failure(let failure) = read(text) else { return [] }
        return failure.problems.map { "\($0.key): \($0.expected)" }
    }

    @Test("those of Docs/profiles.md are read as described")
    func documented() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appendingPathComponent("Docs/profiles.md"), encoding: .utf8)
        let block = try #require(
            page.components(separatedBy: "```toml\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
                .first { $0.contains("[endpoints.books]") })
        let endpoints = try read(block).get().endpoints
        #expect(endpoints.map(\.name) == ["books", "lend", "cover"])
        #expect(endpoints[0].arguments.map(\.name) == ["page", "author"])
        #expect(endpoints[0].arguments[0].type == .integer && endpoints[0].arguments[0].optional)
        #expect(endpoints[0].pages?.items.text == "/data/books")
        #expect(endpoints[1].request.bearer && endpoints[1].clears == ["books"])
        #expect(endpoints[1].arguments.first { $0.name == "reader" }?.fallback?.text == "{user.id}")
        #expect(endpoints[1].info.args.map(\.optional) == [false, true, false, true])
        #expect(
            endpoints[2].request.body
                == .parts([
                    PartTemplate(
                        name: "picture", content: .file(argument: "picture"), fileName: Template(literal: "cover.jpg"),
                        type: "image/jpeg")
                ])
                && endpoints[2].arguments[1].type == .file)
    }

    @Test("a form is read with its lists, numbers and booleans, in the order of the file")
    func forms() throws {
        let text = """
            [endpoints.e]
            method = "POST"
            path = "/a"
            form = { z = "{tags}", scope = ["a", "{one}"], n = 7, on = true, empty = "" }
            args = { tags = "list?", one = "integer" }
            """
        let body = try #require(try read(text).get().endpoints[0].request.body)
        guard case .form(let fields) = body else { throw Failure("not a form: \(body)") }
        #expect(
            fields.map { "\($0.name)=\($0.value.text)" } == [
                "z={tags}", "scope=a", "scope={one}", "n=7", "on=true", "empty=",
            ])
    }

    @Test("the address of the next page is at one of the places, or in the Link field")
    func addresses() throws {
        let text = """
            [api]
            next = "/paging/next"
            [endpoints.a]
            method = "GET"
            path = "/a"
            pages = { items = "/results", next = ["/next", "/links/next"] }
            [endpoints.b]
            method = "GET"
            path = "/b"
            pages = { items = "" }
            """
        let profile = try read(text).get()
        #expect(profile.api.next.map(\.text) == ["/paging/next"])
        #expect(
            profile.endpoints.map { $0.pages?.next } == [
                .address(at: [try JSONPointer("/next"), try JSONPointer("/links/next")]), .address(at: []),
            ])
    }

    @Test(
        "each mistake is reported with its key and what was expected",
        arguments: [
            ("path = \"/a\"\nargs = { id = \"text\" }", "endpoints.e.args.id: an argument that the request sends"),
            ("path = \"/a/{id}\"", "endpoints.e.path: a placeholder of"),
            ("path = \"/a/{id}\"\nargs = { id = \"text?\" }", "endpoints.e.args.id: a required argument"),
            ("path = \"/a/{id}\"\nargs = { id = \"list\" }", "endpoints.e.args.id: a list alone in a body"),
            ("path = \"/a/{id}\"\nargs = { id = \"secret\" }", "endpoints.e.args.id: an argument that is not secret"),
            ("path = \"/a/{id}\"\nargs = { id = \"file\" }", "endpoints.e.args.id: another type"),
            ("path = \"/a\"\nargs = { id = \"path\" }", "endpoints.e.args.id: an argument that the request sends"),
            (
                "path = \"/a\"\nquery = { q = \"{id}\" }\nargs = { id = \"path\" }",
                "endpoints.e.args.id: a path in the request's path"
            ),
            ("path = \"/a/{id}\"\nargs = { id = \"string\" }", "endpoints.e.args.id: one of text, integer"),
            ("path = \"/a\"\nargs = { environment = \"text\" }", "endpoints.e.args.environment: a name of letters"),
            ("path = \"/a\"\nclears = [\"e\"]", "endpoints.e.clears: no such key: a GET cannot have it"),
            ("path = \"/a\"\nanswer_as_read = true", "endpoints.e.answer_as_read: no such key: a GET cannot have it"),
            ("path = \"/a\"\npages = { items = \"/x\", first = 0 }", "endpoints.e.pages: more"),
            ("path = \"/a\"\npages = { items = \"/x\", next = \"/n\", more = \"/m\" }", "endpoints.e.pages: more"),
            ("path = \"/a\"\npages = { items = \"/x\", cursor = \"c\" }", "endpoints.e.pages: next"),
            ("path = \"/a\"\npages = { items = \"/x\", next = [\"n\"] }", "endpoints.e.pages.next[0]: "),
            ("path = \"/a\"\npages = { more = \"/x\" }", "endpoints.e.pages.items: a JSON Pointer"),
            ("path = \"/a\"\ncache_seconds = -1", "endpoints.e.cache_seconds: a whole number from 0"),
            ("path = \"/a\"\ncach_seconds = 1", "endpoints.e.cach_seconds: cache_seconds (is that meant?)"),
            (
                "path = \"/a\"\nmultipart = [{ name = \"f\", text = \"x\" }]",
                "endpoints.e.multipart: no body in a GET"
            ),
            ("path = \"/a\"\nform = { x = \"a\" }", "endpoints.e.form: no body in a GET"),
        ])
    func mistakes(text: String, problem: String) {
        let found = problems("[endpoints.e]\nmethod = \"GET\"\n" + text)
        #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
    }

    @Test(
        "a mistake is reported with the line of its key, or of the table that lacks it",
        arguments: [
            ("path = \"/a/{id}\"", 3, "endpoints.e.path: "),
            ("path = \"/a\"\nargs = { id = \"text\" }", 4, "endpoints.e.args.id: "),
            ("path = \"/a\"\ncach_seconds = 1", 4, "endpoints.e.cach_seconds: "),
            ("path = \"/a\"\n[endpoints.e.pages]\nmore = \"/x\"", 4, "endpoints.e.pages.items: "),
            ("path = \"/a\"\n[endpoints.e.pages]\nitems = \"/x\"\nnext = [\"n\"]", 6, "endpoints.e.pages.next[0]: "),
            ("path = \"/a\"\n[endpoints.e.args.id]\ntype = \"texts\"", 5, "endpoints.e.args.id.type: "),
            ("path = \"/a\"\n\n[api]\nwaits = true", 6, "api.waits: "),
        ])
    func lines(text: String, line: Int, problem: String) {
        guard case .failure(let failure) = read("[endpoints.e]\nmethod = \"GET\"\n" + text) else {
            Issue.record("no problem")
            return
        }
        let found = failure.problems.map { "\($0.line) \($0.key): \($0.expected)" }
        // The lines of a row are counted from its own first one.
        #expect(found.contains { $0.hasPrefix("\(line + Self.headLines) \(problem)") }, "\(found)")
    }

    @Test("mistakes of writes are reported too")
    func writes() {
        let found = problems(
            """
            [endpoints.e]
            method = "POST"
            path = "/a"
            cache_seconds = 5
            clears = ["f"]
            multipart = [{ name = "f", text = "x", file = "y" }]
            [api]
            waits = true
            """)
        for problem in [
            "endpoints.e.cache_seconds: no such key: it is for a GET only",
            "endpoints.e.clears[0]: an endpoint of this profile",
            "endpoints.e.multipart[0]: either a text or a file", "api.waits: ",
        ] { #expect(found.contains { $0.hasPrefix(problem) }, "\(found)") }
    }

    @Test(
        "mistakes of forms are reported",
        arguments: [
            (
                "form = { x = \"a\" }\nmultipart = [{ name = \"f\", text = \"x\" }]",
                "endpoints.e.multipart: one body only"
            ),
            ("form = { x = \"a\" }\nbody = [1]", "endpoints.e.form: one body only"),
            ("form = { x = \"{o}\" }\nargs = { o = \"object\" }", "endpoints.e.args.o: another type: a form has texts"),
            ("form = { x = \"a{l}\" }\nargs = { l = \"list\" }", "endpoints.e.args.l: a list alone in a body"),
            ("form = { x = \"{f}\" }\nargs = { f = \"file\" }", "endpoints.e.args.f: another type: a file"),
            ("form = { x = 2026-01-30 }", "endpoints.e.form.x: a text, whole number"),
        ])
    func formMistakes(text: String, problem: String) {
        let found = problems("[endpoints.e]\nmethod = \"POST\"\npath = \"/a\"\n" + text)
        #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
    }
}
