import AgentTestSupport
import AuthWire
import Testing

@testable import AuthModel

@Suite("What a server's answer shows about a profile")
struct ProfileTrialTests {
    private func trials(_ change: (inout ProviderProfile) throws -> Void = { _ in }) throws -> [ProfileTrial] {
        try Sample.profile(change).trials(at: try BaseURL("https://server.example/v2"))
    }

    private func finding(
        _ status: Int, _ body: String = "{}", type: String? = "application/json",
        _ change: (inout ProviderProfile) throws -> Void = { _ in }
    ) throws -> TriedRequest {
        let trial = try #require(try trials(change).first { $0.name == "validation" })
        return trial.finding(in: Sample.reply(status, body, type: type))
    }

    @Test("requests go to the given server, with its paths and without credentials")
    func requests() throws {
        let trials = try trials()
        #expect(trials.map(\.name).contains("sign_in.password.request"))
        #expect(trials.allSatisfy { $0.url.hasPrefix("https://server.example/v2/") })
        let sent = trials.flatMap { Array($0.headers.keys) + [$0.body ?? ""] }.joined(separator: " ").lowercased()
        #expect(!sent.contains("authorization") && !sent.contains("cookie"))
        // A placeholder of a path has a value that stands in for it.
        #expect(trials.first { $0.name == "user_request.request" }?.url == "https://server.example/v2/users/0")
    }

    @Test(
        "each status has its meaning",
        arguments: [
            (200, true, "accepted without credentials"), (401, true, "refused without credentials"),
            (403, true, "refused without credentials"), (400, true, "refused without credentials"),
            (404, false, "no such path"), (410, false, "no such path"), (405, false, "does not allow GET"),
            (501, false, "does not allow GET"), (429, true, "too many requests"), (302, false, "redirects"),
            (500, false, "the server failed"), (503, false, "the server failed"),
        ])
    func statuses(status: Int, isExpected: Bool, words: String) throws {
        let found = try finding(status)
        #expect(found.isExpected == isExpected && found.message.contains(words), "\(found.message)")
        #expect(found.httpStatus == status && found.method == "GET" && found.url == "https://server.example/v2/me")
    }

    private func redirect(
        _ name: String = "validation", to target: String?, status: Int = 302,
        _ change: (inout ProviderProfile) throws -> Void = { _ in }
    ) throws -> TriedRequest {
        let trial = try #require(try trials(change).first { $0.name == name })
        let fields = target.map { ["Location": $0] } ?? [:]
        return trial.finding(in: Sample.reply(status, "<html>", type: "text/html", fields))
    }

    @Test(
        "a redirect is reported with what it means: to another spelling, to a sign-in page, or elsewhere",
        arguments: [
            ("/v2/me/", "https://server.example/v2/me/: use that address"),
            ("https://www.server.example/v2/me", "request to https://www.server.example/v2/me"),
            ("http://server.example/v2/me/", "request to http://server.example/v2/me/"),
            ("../accounts/login/?next=/me", "https://server.example/accounts/login/?next=/me, its sign-in page"),
            ("https://sso.example/Sign-In.aspx", "https://sso.example/Sign-In.aspx, its sign-in page"),
            ("/oauth2/start", "its sign-in page"), ("/catalogin/7", "request to https://server.example/catalogin/7"),
            ("/v2/me", "request to https://server.example/v2/me"), (nil, "to no address"),
        ] as [(String?, String)])
    func redirects(target: String?, words: String) throws {
        let found = try redirect(to: target)
        #expect(!found.isExpected && found.message.contains(words), "\(found.message)")
        #expect(found.message.contains("sign-in page") == words.contains("sign-in page"), "\(found.message)")
    }

    @Test("a redirect that the profile reads as a success is one without credentials; any other is a refusal")
    func acceptedRedirects() throws {
        func form(_ target: String, _ rule: ResponseRule?, status: Int = 302) throws -> TriedRequest {
            try redirect("sign_in.password.request", to: target, status: status) { $0.reply.success = rule }
        }
        let home = ResponseRule(statuses: [302], place: .header("Location"), value: .equals(["/home"]))
        let accepted = try form("/home", home)
        #expect(!accepted.isExpected && accepted.message.contains("https://server.example/home is a success"))
        let refused = try form("/login?error=1", home)
        #expect(refused.isExpected)
        let words = "refused without credentials, with a redirect to https://server.example/login?error=1"
        #expect(refused.message == words, "\(refused.message)")
        #expect(try form("/home", home, status: 303).isExpected)
        #expect(try form("/home", home, status: 200).message == "refused without credentials, with HTTP 200")
        let token = ResponseRule(place: .pointer(try JSONPointer("/token")))
        #expect(try form("/home", token, status: 200).message.contains("HTML page"))
        let cookie = ResponseRule(statuses: [302], place: .cookie("sid"))
        #expect(try form("/home", cookie).isExpected)
        let without = try form("/home", nil)
        #expect(!without.isExpected && without.message.contains("`reply.success`"), "\(without.message)")
    }

    @Test("a rule is the same after it was passed on as JSON")
    func rules() throws {
        for rule in [
            ResponseRule(statuses: [302, 303]), ResponseRule(codes: ["a"], place: .header("X"), value: .missing),
            ResponseRule(place: .cookie("sid")),
            ResponseRule(place: .pointer(try JSONPointer("/a/b")), value: .equals([true, 1, "x"])),
        ] {
            #expect(ResponseRule(json: try JSON(parsing: rule.json.serialized())) == rule)
        }
    }

    @Test("a page and an unreadable body are not what a profile expects")
    func bodies() throws {
        let page = try finding(401, "<html>Log in</html>", type: "text/html")
        #expect(!page.isExpected && page.message.contains("HTML page"))
        let broken = try finding(200, "{")
        #expect(!broken.isExpected && broken.message.contains("unreadable"))
        #expect(try finding(204, "", type: nil).isExpected)
    }

    @Test("the message that the profile finds is shown on one line, or the members that it does not look at")
    func messages() throws {
        let found = try finding(401, #"{"message":"Log in\nfirst\u001b[2J"}"#).message
        #expect(found.hasPrefix("refused without credentials; message: Log in") && !found.contains("\n"))
        #expect(!found.contains("\u{1B}"))
        let missed = try finding(401, #"{"detail":"Log in","x":1}"#).message
        #expect(missed.contains("errors.message finds no text (the response has detail, x)"), "\(missed)")
        #expect(try finding(200, #"{"detail":1}"#).message == "accepted without credentials")
    }

    @Test("an envelope decides about 2xx, and its absence is reported")
    func envelopes() throws {
        func found(_ body: String) throws -> TriedRequest {
            try finding(200, body) { $0.errors.envelope = .init(pointer: try JSONPointer("/ok"), success: true) }
        }
        #expect(try found(#"{"ok":true}"#).message.hasPrefix("accepted without credentials"))
        let refused = try found(#"{"ok":false,"message":"Log in"}"#)
        #expect(refused.isExpected && refused.message.contains("in the envelope; message: Log in"))
        let absent = try found(#"{"message":"Log in"}"#)
        #expect(!absent.isExpected && absent.message.contains("has no /ok"))
    }

    @Test("without a value for a success, an envelope that is absent or empty is a success, as in a call")
    func errorLists() throws {
        func found(_ body: String, type: String? = "application/json") throws -> TriedRequest {
            try finding(200, body, type: type) {
                $0.errors.envelope = .init(pointer: try JSONPointer("/errors"), success: nil)
                $0.errors.details = try JSONPointer("/errors")
            }
        }
        for body in ["{}", #"{"errors":[]}"#, #"{"errors":null,"data":1}"#, #"{"errors":false}"#] {
            let accepted = try found(body)
            #expect(accepted.isExpected && accepted.message == "accepted without credentials", "\(accepted.message)")
        }
        #expect(try found("", type: nil).message == "accepted without credentials")
        let refused = try found(#"{"errors":[{"message":"Log in"}]}"#)
        #expect(
            refused.isExpected && refused.message == "refused without credentials, in the envelope; message: Log in")
    }

    @Test("a GET before a sign-in and a key's check are tried; what needs more, or may change something, is named")
    func parts() throws {
        func template(_ method: String, _ path: String) throws -> RequestTemplate {
            RequestTemplate(method: method, path: try Template(parsing: path))
        }
        let trials = try trials { profile in
            var page = try template("GET", "/login")
            page.captures = [
                Capture(name: "csrf", place: .cookie("csrftoken")), Capture(name: "flow", place: .header("X-Flow")),
            ]
            profile.signIn[0].before = [page, try template("POST", "/start")]
            profile.signIn[0].challenge = Challenge(field: "code", request: try template("POST", "/codes"))
            profile.signIn[0].first = FirstRequest(request: try template("POST", "/users"))
            profile.signIn[0].next = [
                SignInStep(rule: ResponseRule(statuses: [401]), request: try template("POST", "/m"))
            ]
            var key = SignInMethod(name: "key", label: "Key", fields: [])
            key.key = SignInKey(token: try Template(parsing: "{key}"), check: try Sample.request("GET", "/user"))
            profile.signIn.append(key)
        }
        let reasons = trials.prefix(7).map { "\($0.name): \($0.skipped ?? "sent")" }
        #expect(
            reasons == [
                "sign_in.password.before[0]: sent", "sign_in.password.before[1]: a POST might change something",
                "sign_in.password.challenge.request: the provider might send somebody a code",
                "sign_in.password.first.request: it might create an account", "sign_in.password.request: sent",
                "sign_in.password.next[0].request: it needs an earlier response", "sign_in.key.check: sent",
            ])
        let before = trials[0]
        let page = Sample.reply(
            200, "<html>", type: "text/html", ["Set-Cookie": "csrftoken=a; Path=/", "X-Flow": "f"])
        let good = before.finding(in: page)
        #expect(good.isExpected && good.message == "answered without credentials, with csrf, flow", "\(good.message)")
        let missing = before.finding(in: Sample.reply(200, "<html>", type: "text/html", ["X-Flow": "f"]))
        #expect(
            !missing.isExpected && missing.message == "the response has no csrf (the cookie csrftoken)",
            "\(missing.message)")
        #expect(before.finding(in: Sample.reply(404)).message.contains("no such path"))
        let skipped = trials[1].notTried("why")
        #expect(skipped.isSkipped && skipped.isExpected && skipped.message == "not tried: why")
    }

    @Test("metadata must be of the issuer, with its endpoints and S256")
    func metadata() throws {
        let trial = try #require(
            try trials { profile in
                profile.oauth = OAuthProfile(issuer: "https://id.example", clientID: "authd")
                profile.signIn = []
            }.first { $0.name == "issuer" })
        func found(_ body: String) -> TriedRequest { trial.finding(in: Sample.reply(200, body)) }
        let good = found(
            #"{"issuer":"https://server.example/v2","token_endpoint":"https://server.example/t","#
                + #""code_challenge_methods_supported":["plain","S256"]}"#)
        #expect(good.isExpected && good.message.contains("token_endpoint"), "\(good.message)")
        #expect(found(#"{"issuer":"https://server.example/v2/"}"#).message.contains("of the issuer"))
        #expect(found("{}").message.contains("no issuer"))
        let plain = found(#"{"issuer":"https://server.example/v2","code_challenge_methods_supported":["plain"]}"#)
        #expect(!plain.isExpected && plain.message.contains("S256"))
    }
}
