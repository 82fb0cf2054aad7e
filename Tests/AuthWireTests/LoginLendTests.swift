import AuthWire
import Testing

@Suite("A request for the browser of another machine")
struct LoginLendTests {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private static let whole: JSONObject = [
        "issuer": "https://id.example", "client_id": "authd", "code_challenge": .string(challenge), "state": "s",
        "nonce": "n", "dpop_jkt": .string(challenge), "scopes": ["a"],
    ]

    @Test(
        "what becomes a part of an address has the letters of base64url and a limit",
        arguments: [
            ("code_challenge", "short"), ("code_challenge", challenge + "A"),
            ("code_challenge", String(challenge.dropLast()) + "="), ("dpop_jkt", "short"), ("state", ""),
            ("state", "a&prompt=none"), ("state", "a b"), ("state", String(repeating: "a", count: 129)),
            ("nonce", "ä"), ("nonce", "a+b"), ("host", String(repeating: "h", count: 65)),
        ])
    func refuses(name: String, value: String) throws {
        _ = try LoginLend(params: .object(Self.whole))
        var params = Self.whole
        params[name] = .string(value)
        let error = #expect(throws: AgentError.self) { try LoginLend(params: .object(params)) }
        #expect(error?.kind == .validation && error?.message.hasPrefix("params.\(name): ") == true)
    }

    @Test("it is about a browser or a device code, and about one server")
    func either() throws {
        func refuses(_ change: (inout JSONObject) -> Void) -> Bool {
            var params = Self.whole
            change(&params)
            return (try? LoginLend(params: .object(params))) == nil
        }
        #expect(refuses { $0["device"] = true })
        #expect(refuses { $0["state"] = nil })
        #expect(refuses { $0["code_challenge"] = nil })
        #expect(refuses { $0["issuer"] = nil })
        #expect(refuses { $0["scopes"] = .array((0...64).map { .string("s\($0)") }) })
        #expect(
            !refuses {
                ($0["code_challenge"], $0["state"], $0["device"]) = (nil, nil, true)
                ($0["issuer"], $0["authorization_endpoint"]) = (nil, "https://id.example/authorize")
            })
    }

    @Test("what both machines show is made of the challenge or of a random text, which a device code must have")
    func comparison() throws {
        var params = Self.whole
        #expect(try LoginLend(params: .object(params)).comparisonCode == "6XEY7")
        params["comparison"] = "other"
        #expect(try LoginLend(params: .object(params)).comparisonCode == "6XEY7")
        (params["code_challenge"], params["state"], params["device"]) = (nil, nil, true)
        params["comparison"] = "AZaz_"
        #expect(try LoginLend(params: .object(params)).comparisonCode == "2TUMZ")
        for wrong in ["abcd", "", "ab de", "abcdé"] as [JSON] {
            params["comparison"] = wrong
            #expect(throws: AgentError.self) { try LoginLend(params: .object(params)) }
        }
        let made = LoginLend.randomComparison()
        #expect(made != LoginLend.randomComparison())
        params["comparison"] = .string(made)
        _ = try LoginLend(params: .object(params))
    }

    @Test("its result prints no secret")
    func hides() {
        let lent = LoginLent(
            clientID: "c", scopes: [], query: "code=s3cret", device: ["device_code": "s3cret"])
        #expect(!"\(lent)".contains("s3cret") && !String(reflecting: lent).contains("s3cret"))
    }
}
