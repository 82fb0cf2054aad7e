import Testing

@testable import AuthWire

@Suite("Unknown keys in params")
struct ParamNamesTests {
    private static let strict = [
        "token.get", "token.reject", "token.proof", "session.logout", "session.export", "session.trust",
    ]
    /// What any of them requires.
    private static let required: JSONObject = [
        "session": "a", "access_token": "t", "method": "GET", "url": "https://a.example/",
    ]

    private func read(_ name: String, _ more: JSONObject) throws {
        var params = Self.required
        for (key, value) in more { params[key] = value }
        let method = try #require(AgentMethods.all.first { $0.name == name })
        _ = try method.init(params: .object(params))
    }

    @Test(
        "a mistyped key is an error where it would mean the default session", arguments: strict,
        ["sesion", "sessions", "session_", "Session", "seession", "sessino", "account", "profile", ""])
    func mistyped(method: String, key: String) {
        let error = #expect(throws: AgentError.self) { try read(method, [key: "b"]) }
        #expect(error?.code == -32602 && error?.message.contains(method) == true)
        if key != "account", key != "profile", !key.isEmpty {
            #expect(error?.message.contains("did you mean 'session'?") == true)
        }
    }

    @Test(
        "a mistyped key is an error where the store would keep the key that it has",
        arguments: ["pasphrase", "key_bas64", "key_file"])
    func rekey(key: String) throws {
        #expect(throws: AgentError.self) { try StoreRekey(params: [key: "b"]) }
        _ = try StoreRekey(params: ["passphrase": "b", "key_base64": "YQ==", "session": "a"])
    }

    @Test("a key of another method is ignored, and other methods ignore any key", arguments: strict)
    func known(method: String) throws {
        try read(method, ["waits_for_connectivity": true, "topics": []])
        _ = try SessionStatusGet(params: ["sesion": "a"])
        _ = try AgentPing(params: ["x": 1])
    }

    @Test("params that are absent have no unknown key")
    func absent() throws {
        for params: JSON? in [JSON?.none, .array([])] { _ = try TokenGet(params: params) }
    }

    @Test("the methods that are strict are those of the protocol's page")
    func list() {
        #expect(Set(AgentMethods.all.filter { $0.isStrict }.map { $0.name }) == Set(Self.strict + ["store.rekey"]))
    }

    @Test("the error shows a key in one short line and no value")
    func quoted() {
        let key = String(repeating: "x\n", count: 10_000)
        let error = #expect(throws: AgentError.self) { try TokenGet(params: [key: "hunter2"]) }
        #expect((error?.message.utf8.count ?? .max) < 500)
        #expect(error?.message.contains("hunter2") == false && error?.message.contains("\n") == false)
    }
}
