import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Steps and captured values, in a profile")
struct SignInStepReaderTests {
    private static let head = """
        name = "library"
        [environments]
        local = "http://localhost:1"
        [renewal]
        kind = "none"
        [reply]
        access_token = "/token"
        [errors]
        code = "/code"

        """
    /// A sign-in that is complete but for what a test adds.
    private static let method = """
        [sign_in.password]
        fields = [{ name = "email" }]
        [sign_in.password.request]
        method = "POST"
        path = "/login"
        body = { email = "{email}" }

        """
    private static let request = "request = { method = \"POST\", path = \"/next\" }\n"

    private func read(_ text: String) -> Result<ProviderProfile, ProfileProblems> {
        ReadingResult.profile(Self.head + text, source: "library.toml")
    }

    private func problems(_ text: String) -> [String] {
        guard case .failure(let failure) = read(text) else { return [] }
        return failure.problems.map { "\($0.line) \($0.key): \($0.expected)" }
    }

    @Test("a sign-in that needs a value of the response to first cannot renew a session", arguments: [true, false])
    func needsFirst(usesValue: Bool) throws {
        let flow = usesValue ? #"flow = "{flow}""# : "flow = 1"
        let text = """
            name = "library"
            [environments]
            local = "http://localhost:1"
            [reply]
            access_token = "/token"
            [renewal]
            kind = "sign-in"
            [sign_in.password]
            fields = [{ name = "email" }]
            first = { request = { method = "POST", path = "/users", capture = { flow = "/flow" } } }
            request = { method = "POST", path = "/login", body = { email = "{email}", \(flow) } }
            """
        switch ReadingResult.profile(text, source: "library.toml") {
        case .success(let profile):
            #expect(!usesValue && profile.repeatedMethod?.name == "password")
        case .failure(let failure):
            #expect(usesValue && failure.problems.map(\.key) == ["renewal.method"], "\(failure.problems)")
            #expect(failure.problems.first?.expected.contains("`first`") == true)
        }
        // For the other kinds it is not an error: nothing is remembered.
        let refresh = #"request = { method = "POST", path = "/r", bearer = true }"#
        let other = text.replacing(#"kind = "sign-in""#, with: "kind = \"refresh\"\n" + refresh)
        let profile = try ProfileReader.read(other, source: "library.toml")
        #expect((profile.repeatedMethod == nil) == usesValue)
    }

    @Test("requests before, captured values and steps are read in their order")
    func complete() throws {
        let profile = try read(
            """
            [sign_in.password]
            fields = [{ name = "email" }]
            [[sign_in.password.before]]
            method = "GET"
            path = "/csrf"
            capture = { csrf = { header = "X-CSRF" }, jar = { cookie = "session" } }
            [sign_in.password.request]
            method = "POST"
            path = "/login"
            headers = { X-CSRF = "{csrf}" }
            body = { email = "{email}" }
            capture = { flow = "/flow" }
            [[sign_in.password.next]]
            when = { status = 401, code = "mfa_required" }
            fields = [{ name = "code", label = "Code", kind = "code", digits = 6 }]
            message = "/message"
            request = { method = "POST", path = "/mfa/{flow}", body = { code = "{code}", csrf = "{csrf}", e = "{email}" } }
            [[sign_in.password.next]]
            when = { place = "/next", equals = ["tenant", 7, true] }
            message = "Choose one."
            capture = { again = "/again" }
            [[sign_in.password.next.fields]]
            name = "tenant"
            choices = { list = "/tenants", value = "/id", label = "/name" }
            [sign_in.password.next.request]
            method = "POST"
            path = "/tenant"
            body = { tenant = "{tenant}", again = "{again}" }
            [[sign_in.password.next]]
            when = { status = [200, 202], place = { header = "X-Link" }, exists = true }
            poll = { every_seconds = 3, expires_seconds = 600, pending = { status = 404 } }
            request = { method = "GET", path = "/link/{again}" }
            reply = { access_token = { cookie = "session" } }
            """
        ).get()
        let method = profile.signIn[0]
        #expect(method.before[0].captures.map(\.name) == ["csrf", "jar"])
        #expect(method.before[0].captures[1].place == .cookie("session"))
        #expect(method.request?.captures.map(\.name) == ["flow"])
        let steps = method.next
        #expect(steps[0].rule == ResponseRule(statuses: [401], codes: ["mfa_required"]))
        #expect(
            try steps[0].message == .pointer(JSONPointer("/message")) && steps[0].rules["code"] == [.digits(count: 6)])
        #expect(steps[1].rule.value == .equals(["tenant", 7, true]) && steps[1].message == .text("Choose one."))
        #expect(steps[1].choices["tenant"]?.list.text == "/tenants")
        #expect(steps[2].rule.statuses == [200, 202] && steps[2].rule.place == .header("X-Link"))
        #expect(
            steps[2].poll
                == StepPoll(interval: .seconds(3), lifetime: .seconds(600), pending: ResponseRule(statuses: [404])))
        #expect(steps[2].reply?.accessToken == .cookie("session"))
        #expect(profile.requests.count == 5)
    }

    @Test(
        "each mistake is reported with its key and what was expected",
        arguments: [
            ("", "request = { method = \"POST\", path = \"/next\" }", "next[0].when: a table"),
            ("", "when = {}\n" + request, "next[0].when: status, code, or place"),
            ("", "when = { status = 99 }\n" + request, "next[0].when.status: a whole number from 200 to 599"),
            ("", "when = { status = [401, 99] }\n" + request, "next[0].when.status[1]: a status from 200 to 599"),
            ("", "when = { place = \"/a\" }\n" + request, "next[0].when.place: either equals or exists"),
            ("", "when = { status = 401, equals = 1 }\n" + request, "next[0].when.equals: place beside it"),
            ("", "when = { place = \"/a\", equals = 1.5 }\n" + request, "next[0].when.equals: a text, a whole number"),
            ("", "when = { place = \"a\", exists = true }\n" + request, "next[0].when.place: a JSON Pointer"),
            ("", "when = { status = 401 }", "next[0].request: a table"),
            ("", "when = { status = 401 }\nfeilds = []\n" + request, "next[0].feilds: fields (is that meant?)"),
            (
                "", "when = { status = 401 }\nfields = [{ name = \"code\" }]\n" + request,
                "next[0].fields[0].name: a field that the request sends"
            ),
            (
                "", "when = { status = 401 }\nfields = [{ name = \"email\" }]\n" + request,
                "next[0].fields[0].name: a name that no field of the method has"
            ),
            (
                "", "when = { status = 401 }\nfields = [{ name = \"t\", choices = { list = \"/l\" } }]\n" + request,
                "next[0].fields[0].choices.value: a JSON Pointer"
            ),
            (
                "", "when = { status = 401 }\nrequest = { method = \"GET\", path = \"/{flow}\" }",
                "next[0].request.path: a placeholder of {email}, {environment}"
            ),
            (
                "", "when = { status = 401 }\ncapture = { email = \"/e\" }\n" + request,
                "next[0].capture.email: a name for the value"
            ),
            (
                "", "when = { status = 401 }\ncapture = { flow = \"e\" }\n" + request,
                "next[0].capture.flow: a JSON Pointer"
            ),
            (
                "", "when = { status = 401 }\npoll = { every_seconds = 0 }\n" + request,
                "next[0].poll.every_seconds: a whole number from 1 to"
            ),
            (
                "", "when = { status = 401 }\npoll = { every_seconds = 3 }\n" + request,
                "next[0].poll.expires_seconds: a whole number"
            ),
            (
                "",
                "when = { status = 401 }\nfields = [{ name = \"c\" }]\npoll = { every_seconds = 3, expires_seconds = 9 }\n"
                    + "request = { method = \"GET\", path = \"/{c}\" }", "next[0].fields: no fields"
            ),
            ("capture = { environment = \"/e\" }", "", "request.capture.environment: a name for the value"),
            ("capture = { \"a b\" = \"/e\" }", "", "request.capture.\"a b\": a name for the value"),
            ("query = { x = \"{flow}\" }\ncapture = { flow = \"/f\" }", "", "request.query.x: a placeholder"),
        ])
    func mistakes(own: String, next: String, expected: String) {
        let step = next.isEmpty ? "" : "[[sign_in.password.next]]\n" + next
        let found = problems(Self.method + own + "\n" + step)
        #expect(found.contains { $0.contains("sign_in.password." + expected) }, "\(found)")
        #expect(found.allSatisfy { !$0.hasPrefix("0 ") })
    }

    @Test(
        "a mistake is reported with the line of its key, or of the table that lacks it",
        arguments: [
            ("before = 1", "12 before: "),
            ("before = [1]", "12 before"),
            ("[[sign_in.password.before]]\npath = \"/csrf\"", "16 before[0].method: "),
            ("[[sign_in.password.before]]\nmethod = \"GET\"\npath = \"/csrf\"\nbearer = true", "19 before[0].bearer: "),
            (
                "[[sign_in.password.before]]\nmethod = \"GET\"\npath = \"/csrf\"\ncapture = { a = { headr = \"X\" } }",
                "19 before[0].capture.a.headr: header (is that meant?)"
            ),
            (
                "[[sign_in.password.before]]\nmethod = \"GET\"\npath = \"/c\"\ncapture = { a = { header = \"X\", cookie = \"c\" } }",
                "19 before[0].capture.a: "
            ),
            ("[[sign_in.password.next]]\n" + request, "16 next[0].when: a table"),
            ("[[sign_in.password.next]]\nwhen = { status = 99 }\n" + request, "17 next[0].when.status: "),
            (
                "[[sign_in.password.next]]\nwhen = { status = 401 }\npoll = { every_seconds = 0, expires_seconds = 1 }\n"
                    + request,
                "18 next[0].poll.every_seconds: "
            ),
            (
                "[[sign_in.password.next]]\n[sign_in.password.next.when]\nstatus = 401\nequals = 1\n[sign_in.password.next.request]\n"
                    + "method = \"POST\"\npath = \"/{flow}\"", "19 next[0].when.equals: place beside it"
            ),
            (
                "[[sign_in.password.next]]\n[sign_in.password.next.when]\nstatus = 401\n[sign_in.password.next.request]\n"
                    + "method = \"POST\"\npath = \"/{flow}\"", "21 next[0].request.path: a placeholder"
            ),
        ])
    func lines(more: String, expected: String) {
        // Keys of the method's own table stand before the tables in it.
        let fields = "fields = [{ name = \"email\" }]"
        let text =
            more.hasPrefix("before =")
            ? Self.method.replacing(fields, with: fields + "\n" + more) : Self.method + more
        let parts = expected.split(separator: " ", maxSplits: 1)
        let found = problems(text)
        #expect(found.contains { $0.hasPrefix("\(parts[0]) sign_in.password.\(parts[1])") }, "\(found)")
    }

    @Test("a value can be captured in a sign-in only, and a code needs to be found")
    func elsewhere() {
        let validation = "[validation]\nmethod = \"GET\"\npath = \"/me\"\ncapture = { a = \"/b\" }\n"
        #expect(problems(Self.method + validation).contains { $0.contains("validation.capture: it in a sign-in") })
        let change = """
            [password.change]
            fields = []
            next = []
            request = { method = "PUT", path = "/p" }

            """
        #expect(problems(Self.method + change).contains { $0.contains("password.change.next") })
        let step = "[[sign_in.password.next]]\nwhen = { code = \"mfa\" }\n" + Self.request
        let text = Self.head.replacing("code = \"/code\"", with: "") + Self.method + step
        guard case .failure(let failure) = ReadingResult.profile(text, source: "library.toml") else {
            Issue.record("codes are nowhere")
            return
        }
        #expect(failure.problems.contains { $0.key == "sign_in.password.next[0].when.code" })
        let field = Self.method.replacing("{ name = \"email\" }", with: "{ name = \"email\", choices = {} }")
        #expect(problems(field).contains { $0.contains("fields[0].choices: it in a step") })
    }
}
