import AuthWire
import Testing

struct SecrecyTests {
    /// Everything Swift offers to show a value.
    private func shown(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value)" + String(reflecting: value) + dumped
            + Mirror(reflecting: value).children.map { "\($0)" }.joined()
    }

    @Test("no request shows a secret, however it is printed")
    func requestsHide() throws {
        for request in try Samples.requests() {
            #expect(!shown(request).contains(Samples.secret), "\(type(of: request).name)")
            let rpc = RPCRequest(id: .integer(1), request)
            #expect(!shown(rpc).contains(Samples.secret))
            #expect(!shown(RPCIncoming(rpc.json)).contains(Samples.secret))
            #expect(!shown(RPCIncoming.batch([.success(rpc)])).contains(Samples.secret))
        }
    }

    @Test("no token and no answer of a provider is shown, however it is printed")
    func resultsHide() throws {
        let token = TokenResult(accessToken: Samples.secret, tokenType: "Bearer", session: try SessionName("a"))
        let values: [Any] = [
            token, RPCMessage.result(.null, token.json), [token], Optional(token) as Any, ["k": token],
            TokenReject(accessToken: Samples.secret),
            ProofResult(proof: Samples.secret, session: try SessionName("a")),
            APIResponse(status: 200, headers: ["Set-Cookie": Samples.secret], body: .string(Samples.secret)),
            UserResult(user: UserSummary(id: "1"), raw: .string(Samples.secret)),
            RPCMessage.notification(method: "event", params: [.string(Samples.secret)]),
        ]
        for value in values { #expect(!shown(value).contains(Samples.secret)) }
        #expect("\(token)" == "TokenResult(<secret>)")
    }
}
