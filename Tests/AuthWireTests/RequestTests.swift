import AuthWire
import Testing

struct RequestTests {
    private func error(_ method: String, _ params: JSON?) -> AgentError? {
        #expect(throws: AgentError.self) { try AgentRequest(method: method, params: params) }
    }

    @Test("every method is read back from what is written, with every key")
    func roundTrips() throws {
        let requests = try Samples.requests()
        #expect(requests.map(\.method) == MethodName.allCases)
        for request in requests {
            let line = RPCRequest(id: .integer(1), request).json.serialized()
            let read = try JSON(parsing: line)
            #expect(try AgentRequest(method: read["method"]?.stringValue ?? "", params: read["params"]) == request)
        }
    }

    @Test("a request for a proof sends a secret if it brings a token, and only then")
    func proofSecrets() {
        let url = "https://a.example/"
        #expect(AgentRequest.tokenProof(TokenProofParams(method: "GET", url: url, accessToken: "t")).sendsSecrets)
        #expect(!AgentRequest.tokenProof(TokenProofParams(method: "GET", url: url)).sendsSecrets)
    }

    @Test("every method is read from its required keys alone", arguments: MethodName.allCases)
    func readsTheLeast(name: MethodName) throws {
        let required: [MethodName: JSON] = [
            .providerShow: ["provider": "p"], .providerCheck: ["text": ""], .providerForget: ["provider": "p"],
            .loginStart: ["provider": "p"],
            .loginAnswer: ["login": "l", "fields": [:]], .loginWait: ["login": "l"], .loginCancel: ["login": "l"],
            .loginResend: ["login": "l"], .loginRedirect: ["address": "a:/"],
            .sessionUse: ["session": "s"], .sessionWait: ["until": "active"],
            .tokenReject: ["access_token": "t"], .tokenProof: ["method": "GET", "url": "https://a.example/"],
            .userUpdate: ["fields": [:]], .apiRequest: ["method": "GET", "path": "/"], .apiCall: ["endpoint": "e"],
            .apiWrite: ["stream": "s", "offset": 0], .apiRead: ["stream": "s"], .apiClose: ["stream": "s"],
            .storeMigrate: ["to": "sealed-file"], .sessionExport: [:],
            .sessionImport: ["parcel_base64": ""],
        ]
        let params = required[name]
        let request = try AgentRequest(method: name.rawValue, params: params)
        #expect(request.method == name)
        #expect(try AgentRequest(method: name.rawValue, params: request.params) == request)
        for key in params?.objectValue?.keys ?? [] {
            var less = params?.objectValue ?? [:]
            less[key] = nil
            let missing = error(name.rawValue, .object(less))
            #expect(missing?.code == -32602)
            #expect(missing?.message.hasPrefix("params.\(key): expected ") == true)
            #expect(missing?.message.hasSuffix("found nothing.") == true)
        }
    }

    @Test("what is left out is what the protocol says")
    func fillsIn() throws {
        #expect(try AgentRequest(method: "token.get", params: nil) == .tokenGet(TokenGetParams()))
        #expect(try AgentRequest(method: "session.logout", params: [:]) == .sessionLogout(LogoutParams(revoke: true)))
        #expect(try AgentRequest(method: "user.get", params: [:]) == .userGet(UserGetParams(fresh: false)))
        #expect(
            try AgentRequest(method: "login.start", params: ["provider": "p"])
                == .loginStart(LoginStartParams(provider: "p", fields: [:], remember: false)))
        #expect(try AgentRequest(method: "events.subscribe", params: nil) == .eventsSubscribe(SubscribeParams()))
    }

    @Test("null is the same as not being there")
    func takesNullAsAbsent() throws {
        #expect(
            try AgentRequest(method: "token.get", params: ["session": nil, "min_valid_ms": nil, "scopes": nil])
                == .tokenGet(TokenGetParams()))
        #expect(error("login.wait", ["login": nil])?.message == "params.login: expected a string, found nothing.")
    }

    @Test("unknown keys are ignored, unknown methods are an error")
    func handlesTheUnknown() throws {
        #expect(try AgentRequest(method: "agent.ping", params: ["x": [1], "y": nil]) == .agentPing)
        #expect(error("agent.explode", nil)?.code == -32601)
        #expect(error("agent.explode", nil)?.message.contains("agent.explode") == true)
        for name in ["", "Agent.ping", "agent.ping ", "agent_ping", "event"] {
            #expect(error(name, nil)?.code == -32601)
        }
    }

    @Test("an unknown method is repeated in one short line, whatever it holds")
    func quotesShortly() {
        let message = error(String(repeating: "x\n\u{1B}[2J", count: 100_000), nil)?.message ?? ""
        #expect(message.utf8.count < 300)
        #expect(message.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test("params by position are refused in words")
    func refusesPositions() throws {
        #expect(error("token.get", ["work"])?.message.contains("array of positions") == true)
        #expect(error("agent.ping", [1])?.code == -32602)
        #expect(error("agent.ping", "x")?.code == -32602)
        #expect(try AgentRequest(method: "agent.ping", params: []) == .agentPing)
    }

    @Test(
        "a wrong value is refused with its key, what was expected and what it was",
        arguments: [
            ("token.get", ["session": 1], "params.session: expected a session name"),
            ("token.get", ["session": "Ada"], "params.session: expected a session name"),
            ("token.get", ["session": ""], "params.session: expected a session name"),
            ("token.get", ["min_valid_ms": "5"], "params.min_valid_ms: expected a whole number of milliseconds from 0"),
            ("token.get", ["min_valid_ms": -1], "params.min_valid_ms: expected"),
            ("token.get", ["min_valid_ms": 1.5], "params.min_valid_ms: expected"),
            ("token.get", ["timeout_ms": .unsigned(.max)], "params.timeout_ms: expected"),
            ("token.get", ["timeout_ms": .integer(.max)], "params.timeout_ms: expected"),
            ("token.get", ["scopes": "a b"], "params.scopes: expected an array of strings, found a string."),
            ("token.get", ["scopes": ["a", 1]], "params.scopes: expected an array of strings"),
            (
                "session.wait", ["until": "later"],
                #"params.until: expected one of "active", "online", "signed_out", found"#
            ),
            ("session.logout", ["revoke": "yes"], "params.revoke: expected true or false, found a string."),
            (
                "login.start", ["provider": "p", "fields": ["a": 1]],
                "params.fields: expected an object whose values are strings"
            ),
            (
                "login.start", ["provider": "p", "fields": []],
                "params.fields: expected an object whose values are strings"
            ),
            ("login.start", ["provider": ["p"]], "params.provider: expected a string, found an array."),
            ("events.subscribe", ["topics": ["nope"]], "params.topics: expected an array of one of \"session\""),
            ("user.update", ["fields": []], "params.fields: expected an object, found an array."),
            (
                "api.request", ["method": "PUT", "path": "/", "body": 1, "body_base64": "MQ=="],
                "params: expected at most one of body, body_base64, multipart and body_stream, found 2."
            ),
            (
                "api.request", ["method": "GET", "path": "/", "cache": "never"],
                #"params.cache: expected one of "default", "reload", "only", found a string."#
            ),
            (
                "api.request", ["method": "PUT", "path": "/", "multipart": [["name": "a"]]],
                "params.multipart: expected one of text, body_base64 and body_stream in each part."
            ),
        ] as [(String, JSON, String)])
    func namesKeyAndExpectation(method: String, params: JSON, message: String) {
        let problem = error(method, params)
        #expect(problem?.code == -32602)
        #expect(problem?.message.hasPrefix(message) == true, "\(problem?.message ?? "")")
    }

    @Test("an error never repeats a value")
    func hidesValues() {
        let wrong: [(String, JSON)] = [
            ("token.reject", ["access_token": [.string(Samples.secret)]]),
            ("login.answer", ["login": "l", "fields": [.string(Samples.secret)]]),
            ("login.answer", ["login": "l", "fields": .string(Samples.secret)]),
            ("token.get", ["session": .string(Samples.secret.uppercased())]),
        ]
        for (method, params) in wrong {
            let text = error(method, params)?.json.text().lowercased() ?? Samples.secret
            #expect(!text.contains(Samples.secret))
        }
    }

    @Test("two keys that Swift takes for one text do no harm")
    func takesLookalikeKeys() throws {
        let line = #"{"login":"l","fields":{"\u00e9":"1","e\u0301":"2"}}"#
        let request = try AgentRequest(method: "login.answer", params: try JSON(parsing: line))
        guard case .loginAnswer(let params) = request else {
            Issue.record("another request")
            return
        }
        #expect(params.fields.count == 1)
    }

    @Test("a whole number of milliseconds may be written in any way JSON has")
    func readsDurations() throws {
        for text in ["1500", "1500.0", "1.5e3"] {
            #expect(
                try AgentRequest(method: "token.get", params: try JSON(parsing: #"{"min_valid_ms":\#(text)}"#))
                    == .tokenGet(TokenGetParams(minValid: .milliseconds(1500))))
        }
        #expect(Duration.seconds(2).wholeMilliseconds == 2000)
        #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
    }
}
