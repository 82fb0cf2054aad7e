import AuthProviders
import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Docs/profile.schema.json")
struct ProfileSchemaTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    private static func schema() throws -> JSON {
        try JSON(parsing: Array(file("Docs/profile.schema.json").utf8))
    }

    // MARK: Keys

    /// No known key resembles it, so the problem lists all of them.
    private static let unknown = "zzzzzzzzzzzz"

    /// Every table that a profile can have, each with a key that no table has.
    private static let tables = """
        [authorization]
        zzzzzzzzzzzz = 1
        [environments]
        production = "https://api.example.org"
        [sign_in.a]
        zzzzzzzzzzzz = 1
        [[sign_in.a.fields]]
        zzzzzzzzzzzz = 1
        [sign_in.a.challenge]
        zzzzzzzzzzzz = 1
        [sign_in.a.challenge.request]
        zzzzzzzzzzzz = 1
        [sign_in.a.challenge.request.basic]
        zzzzzzzzzzzz = 1
        [sign_in.a.first]
        zzzzzzzzzzzz = 1
        [password]
        zzzzzzzzzzzz = {}
        [reply]
        zzzzzzzzzzzz = 1
        [reply.access_token]
        zzzzzzzzzzzz = 1
        [errors]
        zzzzzzzzzzzz = 1
        [errors.envelope]
        zzzzzzzzzzzz = 1
        [user]
        zzzzzzzzzzzz = 1
        [user_request]
        zzzzzzzzzzzz = 1
        [user_update]
        zzzzzzzzzzzz = 1
        [renewal]
        zzzzzzzzzzzz = 1
        [api]
        zzzzzzzzzzzz = 1
        [endpoints.e]
        zzzzzzzzzzzz = 1
        [endpoints.e.args.a]
        zzzzzzzzzzzz = 1
        [[endpoints.e.multipart]]
        zzzzzzzzzzzz = 1
        [endpoints.f]
        method = "GET"
        path = "/"
        [endpoints.f.pages]
        zzzzzzzzzzzz = 1
        """

    /// The rest of them: one file has a limit of problems.
    private static let stepTables = """
        [environments]
        production = "https://api.example.org"
        [[sign_in.a.next]]
        zzzzzzzzzzzz = 1
        [sign_in.a.next.when]
        zzzzzzzzzzzz = 1
        [sign_in.a.next.poll]
        zzzzzzzzzzzz = 1
        [[sign_in.a.next.fields]]
        name = "x"
        [[sign_in.a.next.request.multipart]]
        zzzzzzzzzzzz = 1
        [sign_in.a.next.fields.choices]
        zzzzzzzzzzzz = 1
        [sign_out]
        zzzzzzzzzzzz = 1
        """

    private static let oauthTables = """
        issuer = "https://id.example.org"
        client_id = "authd"
        [oauth]
        zzzzzzzzzzzz = 1
        """

    @Test("has the keys that the reader knows, in each table")
    func keys() throws {
        let schema = try Self.schema()
        var seen: Set<String> = []
        for text in [Self.tables, Self.stepTables, Self.oauthTables] {
            let problems = Bench.problems("name = \"mine\"\nzzzzzzzzzzzz = 1\n" + text)
                .filter { $0.key.hasSuffix(Self.unknown) }
            #expect(problems.count == text.components(separatedBy: Self.unknown).count)
            for problem in problems {
                let known = try #require(problem.expected.components(separatedBy: "one of ").last)
                    .components(separatedBy: ", ")
                let (place, node) = try #require(Self.node(problem.key, in: schema), "\(problem.key)")
                let own = Set(try #require(node["properties"]?.objectValue, "\(problem.key)").map(\.key))
                // One schema describes both kinds of profile.
                let isRoot = place.isEmpty
                #expect(isRoot ? own.isSuperset(of: known) : own == Set(known), "\(problem.key)")
                seen.insert(place)
            }
        }
        #expect(Self.objects(in: schema, at: "") == seen)
    }

    /// The schema of the table with this key, and its place in the file.
    private static func node(_ key: String, in schema: JSON) -> (String, JSON)? {
        var found = ("", schema)
        let steps = key.replacing("[0]", with: ".[0]").split(separator: ".").dropLast()
        for step in steps {
            guard let next = Self.step(String(step), found, schema) else { return nil }
            found = next
        }
        return found
    }

    private static func step(_ name: String, _ from: (String, JSON), _ schema: JSON) -> (String, JSON)? {
        let (place, node) = from
        if let next = node["properties"]?[name] { return resolved((place + "/properties/" + name, next), schema) }
        if let (pattern, next) = node["patternProperties"]?.objectValue?.first(where: { _ in true }) {
            return resolved((place + "/patternProperties/" + pattern, next), schema)
        }
        for word in ["items", "additionalProperties"] {
            if let next = node[word], next.objectValue != nil { return resolved((place + "/" + word, next), schema) }
        }
        return nil
    }

    /// Follows references, and chooses the alternative that is a table.
    private static func resolved(_ from: (String, JSON), _ schema: JSON) -> (String, JSON)? {
        let (place, node) = from
        if let name = node["$ref"]?.stringValue?.components(separatedBy: "/").last {
            return schema["definitions"]?[name].flatMap { resolved(("/definitions/" + name, $0), schema) }
        }
        for word in ["allOf", "anyOf"] {
            guard node["properties"] == nil, let parts = node[word]?.arrayValue else { continue }
            for (index, part) in parts.enumerated() {
                if let found = resolved((place + "/\(word)/\(index)", part), schema),
                    found.1["properties"] != nil || found.1["items"] != nil
                {
                    return found
                }
            }
        }
        return (place, node)
    }

    /// The places of all schemas with properties.
    private static func objects(in node: JSON, at place: String) -> Set<String> {
        var places: Set<String> = []
        if node["properties"]?.objectValue != nil, node["type"]?.stringValue == "object" { places.insert(place) }
        for (key, value) in node.objectValue ?? JSONObject() {
            places.formUnion(objects(in: value, at: place + "/" + key))
        }
        for (index, value) in (node.arrayValue ?? []).enumerated() {
            places.formUnion(objects(in: value, at: place + "/\(index)"))
        }
        return places
    }

    // MARK: Documents

    @Test("accepts each bundled and documented profile, and refuses invalid ones")
    func documents() async throws {
        var documents = try Self.documented()
        let valid = documents.keys.sorted()
        #expect(valid.count > 30)
        for (index, (line, text)) in (Self.mistakes + Self.laterMistakes).enumerated() {
            #expect(!Bench.problems(Bench.text(line, text)).isEmpty, "\(text)")
            documents["\(index) \(text)"] = Bench.text(line, text)
        }
        var texts = JSONObject()
        for (name, text) in documents { texts[name] = .string(text) }
        let question: JSON = ["schema": try Self.schema(), "documents": .object(texts)]
        let output = try await Child(
            Peer.Program.profileSchema.command(), environment: [:], input: .text(question.text())
        )
        .output()
        #expect(output.status == 0, "\(output.err)")
        let problems = try JSON(parsing: Array(output.out.utf8))
        for name in documents.keys {
            let problem = try #require(problems[name], "\(name)")
            #expect(problem.isNull == valid.contains(name), "\(name): \(problem.text())")
        }
    }

    /// The profiles of the pages and those in the program, each without problems.
    private static func documented() throws -> [String: String] {
        var documents: [String: String] = ["a valid profile": Bench.text()]
        for folder in ["Docs", "Docs/providers", "Sources/AuthProviders/Bundled", "Sources/authc/Starters"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.path + "/" + folder) {
                let path = folder + "/" + name
                switch URL(fileURLWithPath: path).pathExtension {
                case "toml": documents[path] = try file(path)
                case "md":
                    for (index, part) in try file(path).components(separatedBy: "```toml\n").dropFirst().enumerated() {
                        let text = part.components(separatedBy: "\n```")[0]
                        let first = text.split(separator: "\n").first { !$0.hasPrefix("#") } ?? ""
                        guard first.hasPrefix("name = "), Bench.problems(text).isEmpty else { continue }
                        documents["\(path) \(index)"] = text
                    }
                default: continue
                }
            }
        }
        return documents
    }

    /// Lines of ``Bench`` with one mistake each.
    private static let mistakes: [(Int, String)] = [
        (1, #"name = "Mine!""#), (1, ""), (1, "name = 5"), (1, "nmae = \"x\"\nname = \"x\""),
        (1, "name = \"x\"\nissuer = \"https://id.example.org\""), (2, #"allow_insecure_http = "yes""#),
        (3, "[environment]"), (4, #"production = "api.example.org""#), (4, "production = 1"), (4, ""),
        (9, #"  { name = "e mail", kind = "email" },"#), (9, #"  { name = "email", kind = "mail" },"#),
        (9, #"  { name = "email", optional = 1 },"#), (9, #"  "email","#),
        (10, #"  { name = "password", min_length = 0 },"#), (10, #"  { name = "password", one_of = "" },"#),
        (13, #"method = "FETCH""#), (13, ""), (14, #"path = "login""#), (14, "path = \"/login\"\nbaerer = true"),
        (15, #"body = "text""#), (17, #"access_token = "token""#), (17, #"acess_token = "/token""#),
        (23, "envelope = { success = 0 }"), (25, #"kind = "always""#), (26, "final_statuses = [500]"),
        (20, "id = []"), (20, "name = []"), (22, "message = []"), (28, #"method = 5"#), (31, "[user_request.reqest]"),
    ]

    /// The same for steps, captured values, places, keys, errors and pages.
    private static let laterMistakes: [(Int, String)] = [
        (15, #"form = "a=1""#), (15, "form = { email = { a = 1 } }"), (15, "form = [1]"),
        (15, bodyAnd(#"capture = { csrf = "token" }"#)), (15, bodyAnd(#"capture = { csrf = { headr = "X" } }"#)),
        (15, bodyAnd(#"capture = { csrf = { header = "X", cookie = "c" } }"#)), (15, bodyAnd("capture = [1]")),
        (11, "]\nbefore = 1"), (11, "]\nbefore = [{ path = \"/csrf\" }]"),
        (11, "]\nbefore = [{ method = \"GET\", path = \"csrf\" }]"), (11, "]\nnext = { when = { status = 401 } }"),
        (11, step("")), (11, step("when = {},")), (11, step("when = { status = 99 },")),
        (11, step("when = { place = \"a\", exists = true },")), (11, step("when = { status = 401, exist = true },")),
        (11, step("when = { status = 202 }, poll = { every_seconds = 0, expires_seconds = 9 },")),
        (11, step("when = { status = 202 }, poll = { every_seconds = 3 },")),
        (11, step("when = { status = 202 }, poll = 3,")),
        (11, step(#"when = { status = 200 }, fields = [{ name = "t", choices = { list = "/l" } }],"#)),
        (11, step(#"when = { status = 200 }, fields = [{ name = "t", choices = { list = "l", value = "" } }],"#)),
        (2, #"cookies = "yes""#), (2, #"hosts = { auth = "auth.example.org" }"#), (2, "hosts = { auth = {} }"),
        (2, #"hosts = { "a b" = "https://auth.example.org" }"#), (2, #"authorization = "Token""#),
        (2, #"authorization = { header = "A", query = "b" }"#), (2, "authorization = {}"),
        (2, #"authorization = { value = "{access_token}" }"#), (2, #"authorization = { body = "a" }"#),
        (17, "access_token = \"/token\"\nsuccess = { status = 99 }"), (17, "access_token = \"/token\"\nsuccess = true"),
        (17, #"access_token = { header = "A", cookie = "b" }"#), (23, "kinds = { E1 = \"bad\" }"),
        (23, "kinds = [\"forbidden\"]"), (23, #"list = "errors""#), (23, "list = true"),
        (34, "bearer = true\n[api]\nnext = \"next\""), (34, "bearer = true\n[api]\nnext = [1]"),
        (34, endpoint("pages = { more = \"/more\" }")), (34, endpoint("pages = { items = \"\", first = 2 }")),
        (34, endpoint("pages = \"/next\"")), (34, key("kind = \"token\"\ntoken = \"{key}\"")),
        (34, key("kind = \"key\"")), (34, key("kind = \"key\"\ntoken = 1")),
        (15, "multipart = []"), (15, #"multipart = [{ name = "p" }]"#), (15, #"multipart = [{ text = "x" }]"#),
        (15, #"multipart = [{ name = "", text = "x" }]"#), (15, #"multipart = [{ name = "p", file = "password" }]"#),
        (15, #"multipart = [{ name = "p", text = "x", file = "password" }]"#),
        (15, #"multipart = { e = "{email}" }"#), (34, endpoint(#"multipart = [{ name = "p" }]"#)),
        (34, endpoint("args.f = \"file\"\nmultipart = [{ name = \"p\", text = \"x\", file = \"f\" }]")),
        (34, key("kind = \"key\"\ntoken = \"{key}\"\ncheck = { path = \"/user\" }")),
    ]

    private static func bodyAnd(_ line: String) -> String { Bench.lines[14] + "\n" + line }

    private static func step(_ members: String) -> String {
        "]\nnext = [{ \(members) request = { method = \"POST\", path = \"/m\", body = { t = \"{t}\" } } }]"
    }

    private static func endpoint(_ line: String) -> String {
        "bearer = true\n[endpoints.e]\nmethod = \"GET\"\npath = \"/e\"\n" + line
    }

    private static func key(_ lines: String) -> String {
        "bearer = true\n[sign_in.key]\nfields = [{ name = \"key\", kind = \"key\" }]\n" + lines
    }
}
