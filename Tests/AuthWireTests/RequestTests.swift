import AuthWire
import Testing

@Suite("The params of each method")
struct RequestTests {
    private func read(_ name: String, _ params: JSON?) throws -> any AgentMethod {
        try #require(AgentMethods.named(name), "\(name)").init(params: params)
    }

    private func error(_ method: String, _ params: JSON?) -> AgentError? {
        #expect(throws: AgentError.self) { try read(method, params) }
    }

    @Test("every method is read back from what is written, with every key")
    func roundTrips() throws {
        let requests = try Samples.requests()
        #expect(requests.map { type(of: $0).name } == AgentMethods.all.map { $0.name })
        for request in requests { try check(request) }
    }

    private func check<Method: AgentMethod>(_ request: Method) throws {
        let read = try JSON(parsing: RPCRequest(id: .integer(1), request).json.serialized())
        #expect(read["method"]?.stringValue == Method.name)
        #expect(try Method(params: read["params"]) == request)
    }

    @Test("every method is read from its required keys alone", arguments: AgentMethods.all.map { $0.name })
    func readsTheLeast(name: String) throws {
        let required: [String: JSON] = [
            "agent.passphrase": ["passphrase": "p"],
            "provider.show": ["provider": "p"], "provider.check": ["text": ""],
            "provider.try": ["text": "", "url": ""], "provider.forget": ["provider": "p"],
            "login.start": ["provider": "p"], "login.answer": ["login": "l", "fields": [:]],
            "login.check": ["login": "l", "fields": [:]],
            "login.wait": ["login": "l"], "login.cancel": ["login": "l"], "login.resend": ["login": "l"],
            "login.redirect": ["address": "a:/"],
            "login.lend": ["client_id": "c", "issuer": "i", "device": true],
            "session.use": ["session": "s"],
            "session.wait": ["until": "active"],
            "token.reject": ["access_token": "t"], "token.proof": ["method": "GET", "url": "https://a.example/"],
            "user.update": ["fields": [:]], "api.request": ["method": "GET", "path": "/"],
            "api.call": ["endpoint": "e"], "api.write": ["stream": "s", "offset": 0], "api.read": ["stream": "s"],
            "api.close": ["stream": "s"], "store.migrate": ["to": "sealed-file"],
            "cluster.admit": ["code": "c"], "cluster.forget": ["host": "h"],
            "session.import": ["parcel_base64": ""], "consent.answer": ["question": 0, "allowed": false],
            "policy.test": ["method": "token.get"],
        ]
        let params = required[name]
        let request = try read(name, params)
        #expect(try read(name, request.json).json == request.json)
        let described = try #require(AgentMethods.named(name)).memberList.filter(\.isRequired).map(\.name)
        // Either `provider` or `url` is required.
        let alternatives: Set =
            ["login.start": ["provider"], "login.lend": ["issuer", "device"]][name] ?? []
        #expect(Set(described) == Set(params?.objectValue?.keys ?? []).subtracting(alternatives))
        for key in described {
            var less = params?.objectValue ?? [:]
            less[key] = nil
            let missing = error(name, .object(less))
            #expect(missing?.code == -32602)
            #expect(missing?.message.hasPrefix("params.\(key): expected ") == true)
            #expect(missing?.message.hasSuffix("found nothing.") == true)
        }
    }

    @Test("an omitted param has the protocol's default")
    func fillsIn() throws {
        #expect(try TokenGet(params: nil) == TokenGet())
        #expect(try SessionLogout(params: [:]) == SessionLogout(revoke: true))
        #expect(try UserGet(params: [:]) == UserGet(fresh: false))
        #expect(try LoginStart(params: ["provider": "p"]) == LoginStart(provider: "p", fields: [:], remember: false))
        #expect(try EventsSubscribe(params: nil) == EventsSubscribe(SubscribeParams()))
    }

    @Test("null is the same as not being there")
    func acceptsNullAsAbsent() throws {
        #expect(try TokenGet(params: ["session": nil, "min_valid_ms": nil, "scopes": nil]) == TokenGet())
        #expect(error("login.wait", ["login": nil])?.message == "params.login: expected a string, found nothing.")
    }

    @Test("unknown keys are ignored")
    func ignoresTheUnknown() throws {
        #expect(try AgentPing(params: ["x": [1], "y": nil]) == AgentPing())
    }

    @Test("an unknown method is repeated in one short line, whatever it holds")
    func quotesShortly() {
        let error = AgentError.methodNotFound(String(repeating: "x\n\u{1B}[2J", count: 100_000))
        #expect(error.code == -32601)
        #expect(error.message.utf8.count < 300)
        #expect(error.message.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test("positional params are refused with a message")
    func refusesPositions() throws {
        #expect(error("token.get", ["work"])?.message.contains("found an array") == true)
        #expect(error("agent.ping", [1])?.code == -32602)
        #expect(error("agent.ping", "x")?.code == -32602)
        #expect(try AgentPing(params: []) == AgentPing())
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
            ("login.start", [:], "params: expected either provider or url."),
            ("login.start", ["provider": "p", "url": "https://a.example"], "params: expected either provider or url."),
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

    @Test("two keys that Swift compares as equal are accepted")
    func acceptsLookalikeKeys() throws {
        let line = #"{"login":"l","fields":{"\u00e9":"1","e\u0301":"2"}}"#
        let request = try LoginAnswer(params: try JSON(parsing: line))
        #expect(request.fields.count == 1)
    }

    @Test("a whole number of milliseconds may be written in any way JSON has")
    func readsDurations() throws {
        for text in ["1500", "1500.0", "1.5e3"] {
            #expect(
                try TokenGet(params: try JSON(parsing: #"{"min_valid_ms":\#(text)}"#))
                    == TokenGet(minValid: .milliseconds(1500)))
        }
        #expect(Duration.seconds(2).wholeMilliseconds == 2000)
        #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
    }
}
