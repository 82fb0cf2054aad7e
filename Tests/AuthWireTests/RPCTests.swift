import AuthWire
import Testing

struct RPCTests {
    private func single(_ text: String) -> Result<RPCRequest, RPCProblem>? {
        if case .single(let outcome) = RPCIncoming(line: text.utf8) { outcome } else { nil }
    }

    private func problem(_ text: String) -> RPCProblem? {
        if case .failure(let problem)? = single(text) { problem } else { nil }
    }

    @Test(
        "an id of any type is returned unchanged",
        arguments: [
            "1", "0", "-7", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1.5", "-0.0",
            "null",
            #""""#, #""abc""#, #""1""#, #""é\n😀""#, "1e+300",
        ])
    func echoesIDs(text: String) throws {
        let request = try #require(try single(#"{"jsonrpc":"2.0","method":"agent.ping","id":\#(text)}"#)?.get())
        let id = try #require(request.id)
        #expect(RPCReply.result(id, [:]).text() == #"{"jsonrpc":"2.0","id":\#(text),"result":{}}"#)
        let failure = RPCReply.failure(id, .invalidRequest("no"))
        let error = #"{"code":-32600,"message":"no","data":{"kind":"validation","retryable":false}}"#
        #expect(failure.text() == #"{"jsonrpc":"2.0","id":\#(text),"error":\#(error)}"#)
    }

    @Test("a number and a string that look alike are different ids")
    func distinguishesIDs() {
        #expect(RPCID(1) != RPCID("1"))
        #expect(RPCID(.integer(1)) != RPCID(.number(1)))
        #expect(Set([RPCID.null, .integer(0), .string("0"), .number(0), .string("")]).count == 5)
    }

    @Test("a request without an id is a notification, one with null is not")
    func recognisesNotifications() throws {
        let notification = try #require(try single(#"{"jsonrpc":"2.0","method":"x"}"#)?.get())
        #expect(notification.id == nil && notification.params == nil)
        let request = try #require(try single(#"{"jsonrpc":"2.0","method":"x","id":null}"#)?.get())
        #expect(request.id == .some(.null))
    }

    @Test("params are an object, an array or absent")
    func readsParams() throws {
        #expect(try single(#"{"jsonrpc":"2.0","method":"x","id":1,"params":{"a":1}}"#)?.get().params == ["a": 1])
        #expect(try single(#"{"jsonrpc":"2.0","method":"x","id":1,"params":[1]}"#)?.get().params == [1])
        for params in ["null", "1", "\"a\"", "true"] {
            #expect(problem(#"{"jsonrpc":"2.0","method":"x","id":1,"params":\#(params)}"#)?.id == .integer(1))
        }
    }

    @Test("a line that is not JSON is a parse error with a null id and the place", arguments: ["", "{", "x", "{}}"])
    func answersBrokenLines(text: String) {
        #expect(problem(text)?.id == .null)
        #expect(problem(text)?.error.code == -32700)
        #expect(problem(text)?.error.message.contains("at byte") == true)
    }

    @Test(
        "JSON that is not a request is an invalid request, with its id if it has one",
        arguments: [
            ("1", .null), ("null", .null), ("\"x\"", .null), ("{}", .null), ("[]", .null),
            (#"{"id":5}"#, .integer(5)), (#"{"jsonrpc":"2.0","id":"a"}"#, .string("a")),
            (#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, .integer(1)),
            (#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, .integer(1)),
            (#"{"id":1,"method":"x"}"#, .integer(1)), (#"{"jsonrpc":"2.0","id":1,"method":1}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":1,"method":null}"#, .integer(1)),
            (#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, .null),
            (#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#, .null), (#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, .null),
        ] as [(String, RPCID)])
    func answersInvalidRequests(text: String, id: RPCID) {
        #expect(problem(text)?.error.code == -32600)
        #expect(problem(text)?.id == id)
    }

    @Test("a batch keeps its order, and an invalid element does not affect the others")
    func readsBatches() throws {
        let line = #"[{"jsonrpc":"2.0","method":"a","id":1},3,[],{"jsonrpc":"2.0","method":"b"},{"id":"z"},[[{}]]]"#
        guard case .batch(let elements) = RPCIncoming(line: line.utf8) else {
            Issue.record("no batch")
            return
        }
        #expect(try elements[0].get() == RPCRequest(id: .integer(1), method: "a"))
        #expect(try elements[3].get() == RPCRequest(id: nil, method: "b"))
        let ids = elements.compactMap { if case .failure(let problem) = $0 { problem.id } else { nil } }
        #expect(ids == [.null, .null, .string("z"), .null])
    }

    @Test("a client reads results, failures and notifications, and refuses anything else")
    func readsMessages() throws {
        let error = AgentError(.offline, "No network.", cause: "no_route", retryAfter: .seconds(3))
        #expect(try RPCMessage(RPCReply.result(.string("a"), nil)) == .result(.string("a"), nil))
        #expect(
            try RPCMessage(line: RPCReply.failure(.integer(2), error).serialized()[...]) == .failure(.integer(2), error)
        )
        #expect(
            try RPCMessage(RPCReply.notification("event", ["at": 1]))
                == .notification(method: "event", params: ["at": 1]))
        for text in ["", "1", "[]", "{}", #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","result":1}"#] {
            #expect(throws: AgentError.self) { try RPCMessage(line: Array(text.utf8)[...]) }
        }
        #expect(throws: AgentError.self) { try RPCMessage(["jsonrpc": "2.0", "id": 1, "result": 1, "error": [:]]) }
    }

    @Test("a request written is the request read")
    func roundTrips() throws {
        for id in [nil, RPCID.null, .integer(1), .string("x")] {
            let request = RPCRequest(id: id, SessionUse(session: try SessionName("a")))
            #expect(RPCIncoming(line: request.json.serialized()) == .single(.success(request)))
        }
    }

    @Test("an answer of text is the answer of its value", arguments: [RPCID.null, .integer(7), .string("a\"b\n")])
    func rendered(id: RPCID) throws {
        let value: JSON = ["access_token": "t", "list": [1, 2.5, nil]]
        let line = RPCReply.line(id, rendered: value.serialized())
        #expect(line == RPCReply.result(id, value).serialized())
    }
}
