import AuthWire
import Testing

@testable import AuthDaemon

@Suite("Keys in params that nobody knows")
struct ParamNamesTests {
    private static let strict: [MethodName] = [.tokenGet, .tokenReject, .tokenProof, .sessionLogout, .sessionExport]

    @Test(
        "a mistyped key is an error where it would mean the default session", arguments: strict,
        ["sesion", "sessions", "session_", "Session", "seession", "sessino", "account", "profile", ""])
    func mistyped(method: MethodName, key: String) {
        let error = #expect(throws: AgentError.self) { try ParamNames.check(method, ["session": "a", key: "b"]) }
        #expect(error?.code == -32602 && error?.message.contains(method.rawValue) == true)
        if key != "account", key != "profile", !key.isEmpty {
            #expect(error?.message.contains("did you mean 'session'?") == true)
        }
    }

    @Test(
        "a mistyped key is an error where the store would keep the key that it has",
        arguments: ["pasphrase", "key_bas64", "key_file"])
    func rekey(key: String) throws {
        #expect(throws: AgentError.self) { try ParamNames.check(.storeRekey, [key: "b"]) }
        try ParamNames.check(.storeRekey, ["passphrase": "b", "key_base64": "b", "session": "a"])
    }

    @Test("a key of another method is ignored, and other methods ignore any key", arguments: strict)
    func known(method: MethodName) throws {
        try ParamNames.check(method, ["session": "a", "waits_for_connectivity": true, "topics": []])
        try ParamNames.check(method, nil)
        try ParamNames.check(method, [])
        try ParamNames.check(.sessionStatus, ["sesion": "a"])
        try ParamNames.check(.agentPing, ["x": 1])
    }

    @Test("the error shows a key in one short line and no value")
    func quoted() {
        let key = String(repeating: "x\n", count: 10_000)
        let error = #expect(throws: AgentError.self) { try ParamNames.check(.tokenGet, [key: "hunter2"]) }
        #expect((error?.message.utf8.count ?? .max) < 500)
        #expect(error?.message.contains("hunter2") == false && error?.message.contains("\n") == false)
    }
}
