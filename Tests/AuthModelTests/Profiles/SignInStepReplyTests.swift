import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("What the responses of a sign-in ask for")
struct SignInStepReplyTests {
    private func profile(_ change: (inout SignInMethod) throws -> Void) throws -> ProviderProfile {
        try Sample.profile { profile in try change(&profile.signIn[0]) }
    }

    private func step(
        _ rule: ResponseRule, fields: [StepField] = [], poll: StepPoll? = nil
    ) throws -> SignInStep {
        SignInStep(
            rule: rule, fields: fields, request: RequestTemplate(method: "POST", path: try Template(parsing: "/next")),
            poll: poll)
    }

    private func read(
        _ profile: ProviderProfile, _ reply: HTTPResponse, to part: SignInPart = .own,
        purpose: ErrorDecoder.Purpose = .signIn
    ) throws(ProviderFailure) -> SignInResponse {
        try profile.read(
            reply, to: part, of: profile.signIn[0], SignInValues(environment: "production", fields: [:]),
            purpose: purpose, sentAt: Sample.sentAt)
    }

    private func place(_ text: String) throws -> ValuePlace { .pointer(try JSONPointer(text)) }

    @Test("all members of a rule must hold, and the first rule that holds is used, before errors are reported")
    func rules() throws {
        let place = try place("/challenge")
        let profile = try profile { method in
            method.next = [
                try step(ResponseRule(statuses: [401], codes: ["mfa"])), try step(ResponseRule(codes: ["mfa", "otp"])),
                try step(ResponseRule(place: place, value: .equals(["SMS", 7]))),
                try step(ResponseRule(statuses: [200], place: place, value: .exists)),
                try step(ResponseRule(statuses: [200], place: .header("X-Wait"), value: .exists)),
                try step(ResponseRule(statuses: [418], place: place, value: .missing)),
            ]
        }
        for (status, body, headers, expected) in [
            (401, #"{"code":"mfa"}"#, [:], 0), (400, #"{"code":"mfa"}"#, [:], 1), (200, #"{"code":"otp"}"#, [:], 1),
            (200, #"{"challenge":"SMS"}"#, [:], 2), (200, #"{"challenge":7.0}"#, [:], 2),
            (200, #"{"challenge":"7"}"#, [:], 3), (200, #"{"token":"t"}"#, ["X-Wait": "1"], 4),
            (418, #"{"challenge":null}"#, [:], 5), (418, "", [:], 5),
        ] as [(Int, String, [String: String], Int)] {
            let reply = Sample.reply(status, body, headers)
            #expect(try read(profile, reply).step?.index == expected, "\(status) \(body)")
        }
        #expect(try read(profile, Sample.reply(200, #"{"token":"t","challenge":null}"#)).grant != nil)
        let refusal = #expect(throws: ProviderFailure.self) {
            try read(profile, Sample.reply(401, #"{"code":"bad","message":"No"}"#))
        }
        #expect(refusal?.error.providerMessage == "No")
    }

    @Test("a page or an unreadable body asks for nothing, whatever its status")
    func pages() throws {
        let profile = try profile { $0.next = [try step(ResponseRule(statuses: [401, 200]))] }
        for reply in [Sample.reply(401, "<html>", type: "text/html"), Sample.reply(200, "{\"a\":")] {
            let failure = #expect(throws: ProviderFailure.self) { try read(profile, reply) }
            #expect(failure?.error.kind == .badReply)
        }
    }

    @Test(
        "a value is captured as it is, and sent where it belongs, whatever characters it has",
        arguments: ["c", "a&b=c", "x\ny", "\"q\"", "päss/..", "{csrf}", "a\0b"])
    func captured(value: String) throws {
        let captures = [Capture(name: "csrf", place: try place("/csrf"))]
        let profile = try profile { method in
            method.request = RequestTemplate(
                method: "POST", path: try Template(parsing: "/login"),
                query: [TemplateField(name: "c", value: try Template(parsing: "{csrf}"))],
                body: .json(.object([("csrf", .text(try Template(parsing: "{csrf}")))])))
            method.request?.captures = captures
        }
        var values = SignInValues(
            environment: "production", fields: ["email": Secret("a@b.example"), "password": Secret("p")])
        let body = JSON.object(["csrf": .string(value), "token": "t"]).text()
        values.captured = try read(profile, Sample.reply(200, body)).captured
        let request = try profile.request(.own, of: profile.signIn[0], values)
        #expect(request.json?["csrf"] == .string(value))
        #expect(!request.url.contains("\n") && request.url.split(separator: "&").count == 1)
    }

    @Test("numbers and objects keep their type in a body; null and an empty text are not values")
    func types() throws {
        let profile = try profile { method in
            method.request = RequestTemplate(
                method: "POST", path: try Template(parsing: "/login"),
                body: .json(
                    .object([("v", .text(try Template(parsing: "{v}"))), ("t", .text(try Template(parsing: "x{v}")))])))
            method.request?.captures = [Capture(name: "v", place: try place("/v"))]
        }
        for (json, whole, text) in [
            ("7", "7", "x7"), ("true", "true", "xtrue"), (#"{"a":[1]}"#, #"{"a":[1]}"#, #"x{"a":[1]}"#),
            (#""7""#, #""7""#, "x7"),
        ] {
            var values = SignInValues(
                environment: "production", fields: ["email": Secret("a@b.example"), "password": Secret("p")])
            values.captured = try read(profile, Sample.reply(200, #"{"token":"t","v":\#(json)}"#)).captured
            let request = try profile.request(.own, of: profile.signIn[0], values)
            #expect(request.json?["v"]?.text() == whole && request.json?["t"] == .string(text))
        }
        for json in ["null", #""""#] {
            let captured = try read(profile, Sample.reply(200, #"{"token":"t","v":\#(json)}"#)).captured
            #expect(captured.isEmpty)
        }
        let error = #expect(throws: AgentError.self) {
            try profile.request(
                .own, of: profile.signIn[0],
                SignInValues(
                    environment: "production", fields: ["email": Secret("a@b.example"), "password": Secret("p")]))
        }
        #expect(error?.kind == .badReply && error?.message.contains("'/v'") == true)
    }

    @Test("a request before the others may answer with a page, whose header is captured; a refusal is one")
    func before() throws {
        let profile = try profile { method in
            var before = RequestTemplate(method: "GET", path: try Template(parsing: "/"))
            before.captures = [Capture(name: "csrf", place: .cookie("csrf"))]
            method.before = [before]
        }
        let page = Sample.reply(200, "<html>", type: "text/html", ["Set-Cookie": "csrf=c; Path=/"])
        #expect(try read(profile, page, to: .before(0)).captured["csrf"]?.text.reveal() == "c")
        #expect(throws: ProviderFailure.self) { try read(profile, Sample.reply(503, ""), to: .before(0)) }
    }

    @Test("choices are those of the list, without what cannot be shown; an empty list is a bad response")
    func choices() throws {
        let profile = try profile { method in
            method.next = [
                try step(ResponseRule(statuses: [200]), fields: [StepField(name: "tenant", label: "Tenant")])
            ]
            method.next[0].choices = [
                "tenant": ChoiceList(
                    list: try JSONPointer("/list"), value: try JSONPointer("/id"), label: try JSONPointer("/name"))
            ]
            method.next[0].message = .pointer(try JSONPointer("/words"))
        }
        let body = #"""
            {"list":[{"id":1,"name":"North"},{"id":"b","name":"So\u202euth"},{"id":"c\u0007","name":"x"},{"name":"none"},
             {"id":1,"name":"again"},{"id":3}],"words":"Which\none?"}
            """#
        let asked = try #require(try read(profile, Sample.reply(200, body)).step)
        #expect(asked.fields[0].choices?.map(\.value) == ["1", "b", "3"])
        #expect(asked.fields[0].choices?.map(\.label) == ["North", "So uth", "3"])
        #expect(asked.message == "Which one?" && asked.choices["tenant"]?.map(\.isJSON) == [true, false, true])
        let failure = #expect(throws: ProviderFailure.self) { try read(profile, Sample.reply(200, #"{"list":[]}"#)) }
        #expect(failure?.error.cause == "no_choices")
    }

    @Test("a poll goes on while its own rule holds")
    func pending() throws {
        let profile = try profile { method in
            method.next = [
                try step(ResponseRule(statuses: [202])),
                try step(
                    ResponseRule(codes: ["sent"]),
                    poll: StepPoll(
                        interval: .seconds(1), lifetime: .seconds(60), pending: ResponseRule(statuses: [202, 404]))),
            ]
        }
        #expect(try read(profile, Sample.reply(202, "{}"), to: .step(1)).step?.index == 1)
        #expect(try read(profile, Sample.reply(404, "{}"), to: .step(1)).step?.index == 1)
        #expect(try read(profile, Sample.reply(202, "{}")).step?.index == 0)
        #expect(try read(profile, Sample.reply(200, #"{"token":"t"}"#), to: .step(1)).grant != nil)
    }

    @Test("a remembered sign-in that requires more input is refused finally")
    func remembered() throws {
        let profile = try Sample.profile { profile in
            profile.renewal = Renewal(kind: .signIn)
            profile.signIn[0].next = [try step(ResponseRule(codes: ["mfa"]))]
        }
        let reply = Sample.reply(200, #"{"code":"mfa","message":"Enter the code"}"#)
        for part in [SignInPart.before(0), .own] {
            let failure = #expect(throws: ProviderFailure.self) {
                try read(profile, reply, to: part, purpose: .renewal)
            }
            #expect(failure?.weight == "final" && failure?.error.providerMessage == "Enter the code")
        }
    }
}
