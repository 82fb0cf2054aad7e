import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Problems of a profile")
struct ProfileProblemTests {
    @Test("a valid profile has no problems")
    func right() throws {
        let profile = try ProfileReader.read(Bench.text(), source: "mine.toml")
        #expect(profile.title == "mine")
        #expect(profile.source == "mine.toml")
        #expect(profile.signIn[0].fields.map(\.name) == ["email", "password"])
        #expect(profile.signIn[0].fields[1].secret)
        #expect(profile.renewal.finalStatuses == [401])
    }

    @Test(
        "each mistake is reported with its line, its key and what was expected",
        arguments: [
            (1, #"name = "Mine!""#, "name", "1 to 64 of"), (1, "", "name", "the provider's name"),
            (1, "name = 5", "name", "a text"), (1, "nmae = \"x\"\nname = \"x\"", "nmae", "name (is that meant?)"),
            (2, #"default_environment = "staging""#, "default_environment", "one of production"),
            (2, #"allow_insecure_http = "yes""#, "allow_insecure_http", "true or false"),
            (2, #"cookies = "yes""#, "cookies", "true or false"),
            (4, #"production = "http://api.example.org""#, "environments.production", "https"),
            (4, #"production = "api.example.org""#, "environments.production", "an absolute URL"),
            (4, #"production = "https://api.example.org/?x=1""#, "environments.production", "without a query"),
            (4, #"production = "https://api.example.org/../x""#, "environments.production", "'..'"),
            (4, "production = 1", "environments.production", "a text"),
            (6, #""X User" = "1""#, #"headers."X User""#, "RFC 9110"),
            (6, #"Host = "evil.example""#, "headers.Host", "connection"),
            (6, #"X-A = "a\nb""#, "headers.X-A", "without line breaks"),
            (6, #"X-A = "{email}""#, "headers.X-A", "{user.id}"),
            (6, #"X-A = "{user.name}""#, "headers.X-A", "{user.id}"),
            (6, #"X-A = "{refresh_token}""#, "headers.X-A", "{access_token}"),
            (6, #"X-A = "{""#, "headers.X-A", "brace"),
            (6, #"X-A = "{user.id:bas64}""#, "headers.X-A", "base64 (is that meant?)"),
            (2, "hosts = 1", "hosts", "a table"), (2, "hosts.a = 1", "hosts.a", "a text"),
            (2, #"hosts.a = "http://a.example""#, "hosts.a", "https"),
            (2, #"hosts.a = "https://u:p@a.example""#, "hosts.a", "without a user name"),
            (2, #"hosts."A b" = "https://a.example""#, #"hosts."A b""#, "a host's name"),
            (2, "hosts.a = {}", "hosts.a.production", "its address in production"),
            (2, #"hosts.a = { production = "a" }"#, "hosts.a.production", "an absolute URL"),
            (
                2, #"hosts.a = { production = "https://a.example", prodution = "https://b.example" }"#,
                "hosts.a.prodution", "production (is that meant?)"
            ),
            (30, "bearer = true\nhost = \"auth\"", "renewal.request.host", "no such key without [hosts]"),
            (2, "authorization = 1", "authorization", "a text"),
            (2, #"authorization = "Token""#, "authorization", "a text with {access_token}"),
            (2, #"authorization = "Token {token}""#, "authorization", "{access_token}"),
            (2, #"authorization = "{access_token}\n""#, "authorization", "without line breaks"),
            (2, #"authorization = { hedaer = "X-A" }"#, "authorization.hedaer", "header (is that meant?)"),
            (2, #"authorization = { value = "{access_token}" }"#, "authorization", "exactly one of header"),
            (2, #"authorization = { header = "X-A", query = "a" }"#, "authorization", "exactly one of header"),
            (2, #"authorization = { header = "X A" }"#, "authorization.header", "a header's name"),
            (2, #"authorization = { header = "Cookie" }"#, "authorization.header", "without another meaning"),
            (2, #"authorization = { cookie = "a b" }"#, "authorization.cookie", "a cookie's name"),
            (2, #"authorization = { query = "" }"#, "authorization.query", "a query parameter"),
            (2, #"authorization = { query = "k", value = "x" }"#, "authorization.value", "a text with {access_token}"),
            (9, #"  { name = "e mail", kind = "email" },"#, "sign_in.password.fields[0].name", "a field's name"),
            (9, #"  { name = "environment" },"#, "sign_in.password.fields[0].name", "not environment"),
            (9, #"  { name = "email", kind = "mail" },"#, "sign_in.password.fields[0].kind", "one of text, email"),
            (9, #"  { name = "email", optional = 1 },"#, "sign_in.password.fields[0].optional", "true or false"),
            (9, #"  "email","#, "sign_in.password.fields[0]", "a table"),
            (
                10, #"  { name = "password", min_length = 0 },"#, "sign_in.password.fields[1].min_length",
                "from 1 to 1024"
            ),
            (10, #"  { name = "password", needs = ["luck"] },"#, "sign_in.password.fields[1].needs[0]", "lower, upper"),
            (10, #"  { name = "password", one_of = "" },"#, "sign_in.password.fields[1].one_of", "at least one"),
            (
                10, #"  { name = "password", secret = true, default = "x" },"#, "sign_in.password.fields[1].default",
                "no default"
            ),
            (
                10, #"  { name = "password" }, { name = "device" },"#, "sign_in.password.fields[2].name",
                "the request sends"
            ),
            (10, #"  { name = "password" }, { name = "email" },"#, "sign_in.password.fields[2].name", "a unique name"),
            (13, #"method = "FETCH""#, "sign_in.password.request.method", "one of GET, POST"),
            (13, "", "sign_in.password.request.method", "one of GET, POST"),
            (14, #"path = "login""#, "sign_in.password.request.path", "begins with /"),
            (14, #"path = "/a/../login""#, "sign_in.password.request.path", ".."),
            (14, #"path = "/login?x=1""#, "sign_in.password.request.path", "without query"),
            (14, #"path = "/lo gin""#, "sign_in.password.request.path", "percent-encoded"),
            (
                14, #"path = "/login/{access_token}""#, "sign_in.password.request.path",
                "{email}, {password}, {environment}"
            ),
            (14, "path = \"/login\"\nbearer = true", "sign_in.password.request.bearer", "no token yet"),
            (14, "path = \"/login\"\nbaerer = true", "sign_in.password.request.baerer", "bearer (is that meant?)"),
            (
                15, #"body = { email = "{email}", password = "{pasword}" }"#, "sign_in.password.request.body.password",
                "{password}"
            ),
            (
                15, #"body = { e = "{email}", p = "{password}", d = 2026-01-30 }"#, "sign_in.password.request.body.d",
                "JSON"
            ),
            (15, #"body = { e = "{email}", p = "{password}", d = nan }"#, "sign_in.password.request.body.d", "JSON"),
            (15, #"body = "email={email}&password={password}""#, "sign_in.password.request.body", "a table or list"),
            (15, "body = 7", "sign_in.password.request.body", "a table or list"),
            (
                15, #"form = { e = "{email}", p = "{pasword}" }"#, "sign_in.password.request.form.p", "{password}"
            ),
            (15, #"form = { e = "{email}", p = ["{pasword}"] }"#, "sign_in.password.request.form.p[0]", "{password}"),
            (15, #"form = { e = "{email}", p = 1.5 }"#, "sign_in.password.request.form.p", "a form has no other"),
            (
                15, #"form = { e = "{email}", p = { q = "" } }"#, "sign_in.password.request.form.p",
                "a form has no other"
            ),
            (
                15, #"basic = { user = "{email}", pasword = "{password}" }"#, "sign_in.password.request.basic.pasword",
                "password (is that meant?)"
            ),
            (15, #"basic = { user = "{email}" }"#, "sign_in.password.request.basic.password", "a name and a password"),
            (
                15, #"basic = { user = "x:{email}", password = "{password}" }"#, "sign_in.password.request.basic.user",
                "without ':'"
            ),
            (
                15, "basic = { user = \"x:\u{301}{email}\", password = \"{password}\" }",
                "sign_in.password.request.basic.user", "without ':'"
            ),
            (
                15,
                "basic = { user = \"{email}\", password = \"{password}\" }\nheaders = { authorization = \"x\" }",
                "sign_in.password.request.headers.authorization", "no such header with basic"
            ),
            (30, "bearer = true\nbasic = { user = \"a\", password = \"b\" }", "renewal.request.basic", "bearer = true"),
            (15, #"form = "email={email}""#, "sign_in.password.request.form", "a table"),
            (15, #"multipart = { e = "{email}" }"#, "sign_in.password.request.multipart", "a list of tables"),
            (
                15, #"multipart = [{ name = "p", text = "{pasword}" }]"#, "sign_in.password.request.multipart[0].text",
                "{password}"
            ),
            (
                15, #"multipart = [{ name = "p", file = "password" }]"#, "sign_in.password.request.multipart[0].file",
                "only an endpoint has"
            ),
            (15, "multipart = []", "sign_in.password.request.multipart", "at least one part"),
            (
                15, #"multipart = [{ name = "", text = "{email}" }]"#, "sign_in.password.request.multipart[0].name",
                "a name without control characters"
            ),
            (
                15, #"multipart = [{ name = "p\u0007", text = "{email}" }]"#,
                "sign_in.password.request.multipart[0].name", "a name without control characters"
            ),
            (
                15, #"multipart = [{ name = "p", text = "x", filename = "a\r\nb" }]"#,
                "sign_in.password.request.multipart[0].filename", "a name without control characters"
            ),
            (
                15, #"multipart = [{ name = "p", text = "x", type = "text/plain\r\nX: y" }]"#,
                "sign_in.password.request.multipart[0].type", "a media type"
            ),
            (
                15, #"multipart = [{ name = "p", text = "x", type = "nonsense" }]"#,
                "sign_in.password.request.multipart[0].type", "a media type"
            ),
            (
                15, "headers = { Content-Type = \"text/plain\" }\nmultipart = [{ name = \"p\", text = \"x\" }]",
                "sign_in.password.request.headers.Content-Type", "it has the boundary"
            ),
            (15, #"multipart = [{ name = "p", text = 3 }]"#, "sign_in.password.request.multipart[0].text", "a text"),
            (
                15, "form = { e = \"{email}\" }\nbody = { p = \"{password}\" }", "sign_in.password.request.form",
                "one body only: body is one already"
            ),
            (17, #"access_token = "token""#, "reply.access_token", "RFC 6901"), (17, "", "reply.access_token", "token"),
            (17, #"access_token = "/~2""#, "reply.access_token", "RFC 6901"),
            (17, "access_token = 7", "reply.access_token", "{ header = "),
            (17, "access_token = {}", "reply.access_token", "{ cookie = "),
            (17, #"access_token = { header = "A", cookie = "b" }"#, "reply.access_token", "{ cookie = "),
            (17, #"access_token = { haeder = "A" }"#, "reply.access_token.haeder", "header (is that meant?)"),
            (17, #"access_token = { header = "A B" }"#, "reply.access_token.header", "the name of a header"),
            (17, #"access_token = { cookie = "sid=1" }"#, "reply.access_token.cookie", "the name of a cookie"),
            (17, "access_token = { cookie = 1 }", "reply.access_token.cookie", "a text"),
            (18, #"user = { header = "A" }"#, "reply.user", "a text"),
            (20, "id = 7", "user.id", "a text"), (20, "name = [[\"/a\", 7]]", "user.name[0][1]", "a JSON Pointer"),
            (22, #"message = ["/message", 7]"#, "errors.message[1]", "a text"),
            (23, #"envelope = { success = 0 }"#, "errors.envelope", "success"),
            (23, "envelope = { pointer = \"/code\", success = [] }", "errors.envelope", "boolean"),
            (18, "required = [\"usr\"]", "reply.required[0]", "one of user, expires_at, refresh_token"),
            (18, "required = \"token\"", "reply.required[0]", "one of user, expires_at, refresh_token"),
            (18, "user = [\"/user\", 7]", "reply.user[1]", "a text"),
            (20, "email = [\"mail\"]", "user.email[0]", "a JSON Pointer"),
            (20, "id = []", "user.id", "at least one"), (20, "name = []", "user.name", "at least one"),
            (20, "email = []", "user.email", "at least one"), (18, "user = []", "reply.user", "at least one"),
            (22, "message = []", "errors.message", "at least one"),
            (25, #"kind = "magic""#, "renewal.kind", "one of refresh, validate, sign-in, none"),
            (25, #"kind = "none""#, "renewal.request", "no request"), (25, "", "renewal.kind", "one of"),
            (26, "final_statuses = [500]", "renewal.final_statuses[0]", "400 to 499"),
            (26, "final_statuses = [401, 429]", "renewal.final_statuses[1]", "not 429"),
            (26, #"final_statuses = ["401"]"#, "renewal.final_statuses[0]", "a whole number"),
            (29, #"path = "/refresh/{password}""#, "renewal.request.path", "{user.id}"),
            (
                30, "bearer = true\nheaders = { authorization = \"x\" }", "renewal.request.headers.authorization",
                "bearer"
            ),
            (34, "body = { a = 1 }", "user_request.request.body", "no body in a GET"),
        ])
    func mistakes(_ line: Int, _ replacement: String, _ key: String, _ expected: String) throws {
        let problems = Bench.problems(Bench.text(line, replacement))
        let problem = try #require(problems.first { $0.key == key }, "\(problems)")
        #expect(problem.file == "mine.toml")
        #expect(problem.expected.contains(expected), "\(problem)")
        let isAbsent = replacement.isEmpty || key == "errors.envelope" || key == "renewal.request"
        if !isAbsent { #expect(abs(problem.line - line) <= 1 && problem.line >= line, "\(problem)") }
    }

    @Test("a table of codes needs the pointer to the code, and kinds that a provider can mean")
    func codeKinds() throws {
        let table = "kinds = { \"7\" = \"offline\", \"8\" = \"forbidden\" }"
        let keys = Bench.problems(Bench.text(22, table)).map(\.key)
        #expect(keys == ["errors.code", "errors.kinds.7"])
        let profile = try ProfileReader.read(
            Bench.text(22, "code = \"/code\"\nkinds = { \"8\" = \"forbidden\", \"9\" = \"sign_in_required\" }"),
            source: "mine.toml"
        )
        #expect(profile.errors.kinds == ["8": .forbidden, "9": .signInRequired])
        let texts = try ProfileReader.read(
            Bench.text(22, "message = \"/message\"\nkinds = { \"Not yours\" = \"forbidden\" }"), source: "mine.toml"
        )
        #expect(texts.errors.kinds == ["Not yours": .forbidden])
    }

    @Test(
        "a mistake in a challenge, first request, password action or update is reported at its key",
        arguments: [
            (
                "[sign_in.code]\nfields = [{ name = \"code\" }]\nchallenge = { field = \"cod\", request = R }\nrequest = B",
                "sign_in.code.challenge.field", "one of code"
            ),
            (
                "[sign_in.code]\nfields = [{ name = \"code\" }]\nchallenge = { field = \"code\", request = B }\nrequest = B",
                "sign_in.code.challenge.request.body.code", "{environment}"
            ),
            (
                "[sign_in.code]\nfields = [{ name = \"code\", digits = 0 }]\nrequest = B",
                "sign_in.code.fields[0].digits",
                "1 to 32"
            ),
            (
                "[sign_in.code]\nfields = [{ name = \"code\", issuers = [\"x\"] }]\nrequest = B",
                "sign_in.code.fields[0].issuers", "id-token"
            ),
            (
                "[sign_in.code]\nfields = [{ name = \"code\" }]\nfirst = { existing_statuses = [200], request = R }\nrequest = B",
                "sign_in.code.first.existing_statuses[0]", "400 to 499"
            ),
            (
                "[password.forget]\nfields = [{ name = \"code\" }]\nrequest = B", "password.forget",
                "set, change, request_reset, reset"
            ),
            (
                "[password.reset]\nfields = [{ name = \"code\" }]\nrequest = { method = \"POST\", path = \"/\", bearer = true, body = { c = \"{code}\" } }",
                "password.reset.request.bearer", "no token yet"
            ),
            ("[user_update]\nrequest = R", "user_update.fields", "that can be changed"),
        ])
    func newMistakes(_ table: String, _ key: String, _ expected: String) throws {
        let table = table.replacing("= R", with: #"= { method = "POST", path = "/r" }"#)
            .replacing("= B", with: #"= { method = "POST", path = "/c", body = { code = "{code}" } }"#)
        let problems = Bench.problems(Bench.text() + "\n" + table)
        let problem = try #require(problems.first { $0.key == key }, "\(problems)")
        #expect(problem.expected.contains(expected), "\(problem)")
        #expect(problem.line > 0)
    }

    @Test("a sign-in that needs the user cannot renew a session")
    func repeatedChallenge() throws {
        let text = """
            name = "wall"
            [environments]
            production = "https://wall.example"
            [sign_in.code]
            fields = [{ name = "email" }, { name = "code" }]
            challenge = { field = "code", request = { method = "POST", path = "/s", body = { e = "{email}" } } }
            request = { method = "POST", path = "/c", body = { e = "{email}", c = "{code}" } }
            [reply]
            access_token = "/token"
            [renewal]
            kind = "sign-in"
            """
        let problem = try #require(Bench.problems(text).first)
        #expect(problem.key == "renewal.method")
        #expect(problem.expected.contains("without a challenge"))
    }

    @Test("a missing key is reported at its table")
    func absent() {
        #expect(Bench.problems(Bench.text(25, "")).first { $0.key == "renewal.kind" }?.line == 24)
        #expect(Bench.problems("").map(\.key).sorted() == ["environments", "name", "renewal", "sign_in"])
        #expect(Bench.problems("renewal = 5").filter { $0.key == "renewal" }.count == 1)
    }

    @Test("all mistakes are reported at once, from top to bottom")
    func allAtOnce() {
        var text = Bench.text(4, #"production = "ftp://x""#)
        text = text.replacing("kind = \"refresh\"", with: "kind = \"never\"").replacing("\"/token\"", with: "\"token\"")
        #expect(Bench.problems(text).map(\.line) == [2, 4, 17, 25])
    }

    @Test("a syntax error is reported at its position")
    func syntax() throws {
        let problem = try #require(Bench.problems("name = \"x\"\n\ntitle = \"open\n[environments]").first)
        #expect(problem.line == 3)
        #expect(Bench.problems("a = 1\na = 2").first?.line == 2)
    }

    @Test("a text that is too large, has NULs, or is nested too deeply is refused")
    func hostile() {
        #expect(Bench.problems(String(repeating: "#", count: 300_000)).first?.expected == "at most 256 KiB")
        #expect(Bench.problems("name = \"x\u{0}\"").first?.expected.contains("TOML") == true)
        #expect(Bench.problems("name = \"x\\u0000y\"").first?.line == 1)
        #expect(!Bench.problems("a = " + String(repeating: "[", count: 100_000)).isEmpty)
        #expect(!Bench.problems("a = " + String(repeating: "{a=", count: 50_000)).isEmpty)
        #expect(!Bench.problems("\"a\\u0000b\" = 1").isEmpty)
    }

    @Test("the number of reported mistakes is limited")
    func many() {
        let text = (0..<1000).map { "unknown\($0) = 1" }.joined(separator: "\n")
        #expect(Bench.problems(text).count == 50)
    }

    @Test("a password in a URL is not repeated")
    func noSecrets() throws {
        // The @ and the mark after or before it are one character.
        for at in ["@", "@\u{301}", "\u{600}@"] {
            let text = Bench.text(4, "production = \"https://ada:hunter2\(at)example.org\"")
            let problem = try #require(Bench.problems(text).first { $0.line == 4 })
            #expect(!"\(problem)".contains("hunter2"))
        }
    }

    @Test(
        "plain http is for this machine only, unless the profile allows it",
        arguments: [
            ("http://localhost:1", false, true), ("http://127.0.0.1", false, true), ("http://[::1]:80", false, true),
            ("http://example.org", false, false), ("http://example.org", true, true),
            ("http://127.0.0.1.example.org", false, false), ("http://192.168.1.1", false, false),
        ])
    func plainHTTP(_ url: String, _ allowed: Bool, _ isFine: Bool) {
        let text = "allow_insecure_http = \(allowed)\n" + Bench.text(4, "production = \"\(url)\"")
        #expect(Bench.problems(text).isEmpty == isFine)
    }

    @Test("the first method of the file is the default, whatever its name")
    func order() throws {
        let text =
            Bench.text() + """

                [sign_in.alpha]
                fields = [{ name = "code", kind = "code" }]
                request = { method = "POST", path = "/code", body = { code = "{code}" } }
                """
        #expect(try ProfileReader.read(text, source: "x").signIn.map(\.name) == ["password", "alpha"])
    }

    @Test("a key with invisible characters is shown with escapes, in every part of its problem")
    func hiddenCharacters() throws {
        let problems = Bench.problems("\"na\u{200B}me\" = 1\n\"\\u001b[31m\" = 2\n\"a\u{E0061}\" = 3\n")
        let shown = problems.map(\.description).joined()
        for text in ["na\\u{200b}me", "\\u{1b}[31m", "a\\u{e0061}"] { #expect(shown.contains(text), "\(shown)") }
        // The key itself is as TOML has it.
        for key in [#""na\u200bme""#, #""\u001b[31m""#, #""a\U000e0061""#] {
            #expect(problems.contains { $0.key == key }, "\(shown)")
        }
        for problem in problems {
            let whole = problem.key + problem.expected + (problem.found ?? "")
            #expect(!whole.unicodeScalars.contains(where: VisibleText.isHidden), "\(problem)")
        }
    }
}
