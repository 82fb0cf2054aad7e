import AuthGateway
import AuthModel
import AuthWire
import Testing

@Suite("The bridge: messages")
struct BridgeMachineTests {
    @Test("a message is sent as it is, with the token, and its response is written as it is")
    func request() throws {
        var bench = try BridgeBench()
        let line = #"{ "id" : "a",  "method":"ping","jsonrpc":"2.0", "x": 1.0 }"#
        bench.line(line)
        #expect(bench.body() == line && bench.requests[0].request.method == "POST")
        #expect(bench.requests[0].request.url == BridgeBench.url)
        #expect(bench.header("Accept") == "application/json, text/event-stream")
        #expect(bench.header("Content-Type") == "application/json")
        #expect(bench.header("Authorization") == "Bearer t1")
        #expect(bench.header("Accept-Encoding") == "identity")
        #expect(bench.header("Mcp-Session-Id") == nil && bench.header("MCP-Protocol-Version") == nil)
        bench.answer("{\"jsonrpc\":\"2.0\",\r\n \"id\": \"a\",\"result\":{ }}")
        #expect(bench.written == [#"{"jsonrpc":"2.0",   "id": "a","result":{ }}"#])
    }

    @Test("a stream's messages are written as they arrive, until the response; the connection is then kept")
    func stream() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.stream()
        let progress = #"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#
        bench.events("event: message\ndata: \(progress)\n\nevent: ping\ndata: {}\n\nid: 7\ndata:\n\n: hello\n\n")
        #expect(bench.written == [progress])
        bench.events("data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n")
        #expect(bench.written.last == #"{"jsonrpc":"2.0", "id":1,"result":{}}"#)
        #expect(bench.released.map(\.lingers) == [true])
    }

    @Test("what follows waits for initialize and for its notification; other requests do not wait for each other")
    func order() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.line(BridgeBench.initialized)
        bench.line(BridgeBench.call(1))
        bench.line(BridgeBench.call(2))
        #expect(bench.requests.count == 1)
        bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", "s1")])
        #expect(bench.requests.count == 1 && bench.body() == BridgeBench.initialized)
        #expect(bench.header("Mcp-Session-Id") == "s1" && bench.header("MCP-Protocol-Version") == "2025-11-25")
        bench.accept()
        // The stream of the server, and both requests.
        #expect(bench.requests.map(\.request.method) == ["GET", "POST", "POST"])
        #expect(bench.header("Mcp-Session-Id", of: 2) == "s1")
    }

    @Test("notifications of the program stay in their order; requests and responses pass them")
    func notifications() throws {
        var bench = try BridgeBench.connected()
        let first = #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#
        let second = #"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2}}"#
        bench.line(first)
        bench.line(second)
        bench.line(BridgeBench.call(1))
        bench.line(BridgeBench.result(5))
        let sent = (0..<bench.requests.count).map { bench.body(of: $0) }
        #expect(sent == [first, BridgeBench.call(1), BridgeBench.result(5)])
        bench.accept()
        #expect(bench.body(of: 2) == second)
        // A notification that the server refuses has nobody to be reported to.
        bench.head(400, of: 2)
        #expect(bench.written == [] && bench.notes.count == 1)
    }

    @Test("a batch gets one response for each of its requests")
    func batch() throws {
        var bench = try BridgeBench()
        bench.line("[\(BridgeBench.call(1)),\(BridgeBench.call(2))]")
        bench.answer("[\(BridgeBench.result(1))]")
        #expect(bench.written.count == 2 && bench.written[0] == "[\(BridgeBench.result(1))]")
        #expect(try bench.problem(1).id == 2)
    }

    @Test(
        "a line that is not a message is answered with an error, and not sent",
        arguments: [
            ("{", -32700, .null), ("{}", -32600, .null), ("[]", -32600, .null),
            (#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, -32600, 1),
            (#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600, .null), (#"{"jsonrpc":"2.0","id":1}"#, -32600, 1),
            (#"{"id": "a" ,"jsonrpc":"2.0","method":"x","params":["\ud83d"]}"#, -32700, "a"),
            (#"{"jsonrpc":"2.0","params":{"id":8},"id":7,"method":"x","#, -32700, 7),
        ] as [(String, Int64, JSON)])
    func noMessage(line: String, code: Int64, id: JSON) throws {
        var bench = try BridgeBench()
        bench.line(line)
        #expect(bench.requests.isEmpty && bench.questions.isEmpty)
        #expect(try bench.problem(0).code == code && bench.problem(0).id == id)
    }

    @Test("a response of the program that cannot be read gets no response")
    func badResponseOfProgram() throws {
        var bench = try BridgeBench()
        bench.line(#"{"jsonrpc":"2.0","id":1,"result":{"x":"\ud83d"}}"#)
        #expect(bench.written.isEmpty && bench.requests.isEmpty && bench.notes.count == 1)
    }

    @Test("a response of the program does not wait for initialize: the server may wait for it")
    func responseDuringInitialize() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.stream()
        bench.events(#"data: {"jsonrpc":"2.0","id":5,"method":"ping"}"# + "\n\n")
        bench.line(BridgeBench.result(5))
        #expect(bench.requests.count == 2 && bench.body(of: 1) == BridgeBench.result(5))
    }

    @Test("no more than a thousand unsent messages are read")
    func manyMessages() throws {
        var bench = try BridgeBench.connected()
        for _ in 0...BridgeLimits.unsentMessages { bench.line(#"{"jsonrpc":"2.0","method":"notifications/x"}"#) }
        #expect(bench.isPaused)
        bench.accept()
        #expect(!bench.isPaused)
    }

    @Test("a server cannot fill standard error")
    func manyNotes() throws {
        var bench = try BridgeBench.connected()
        for status in 410..<490 {
            bench.line(#"{"jsonrpc":"2.0","method":"notifications/x"}"#)
            bench.head(status)
        }
        #expect(bench.notes.count == BridgeLimits.notesPerMinute + 1)
        bench.advance(.seconds(60))
        bench.line(#"{"jsonrpc":"2.0","method":"notifications/x"}"#)
        bench.head(400)
        #expect(bench.notes.count == BridgeLimits.notesPerMinute + 2)
    }

    @Test("a message that is too long is answered with an error")
    func tooLong() throws {
        var bench = try BridgeBench()
        bench.send(.line(.tooLong))
        #expect(try bench.problem(0).code == -32600)
    }

    @Test("requests over the limit get an error, and the input is not read while too much is unsent")
    func limits() throws {
        var bench = try BridgeBench()
        for id in 1...BridgeLimits.pendingRequests { bench.line(BridgeBench.call(id)) }
        #expect(bench.requests.count == BridgeLimits.pendingRequests && bench.written.isEmpty)
        bench.line(BridgeBench.call(1000))
        #expect(try bench.problem(0).kind == "busy")
        bench.answer(BridgeBench.result(1))
        let pad = String(repeating: "x", count: 12 << 20)
        for id in 0..<3 { bench.line(#"{"jsonrpc":"2.0","method":"notifications/x","params":{"\#(id)":"\#(pad)"}}"#) }
        #expect(bench.isPaused)
        bench.accept(of: bench.requests.count - 1)
        #expect(!bench.isPaused)
    }

    @Test("a cancelled request: the notification is sent, then its connection is closed, and nothing is written")
    func cancel() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.line(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        #expect(bench.requests.count == 2)
        bench.accept(of: 1)
        #expect(bench.requests.isEmpty && bench.released.contains { !$0.lingers } && bench.written.isEmpty)
    }

    // MARK: The end

    @Test("at the end of the input, requests in flight have a second; then the session is ended")
    func inputEnds() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.line(BridgeBench.call(2))
        bench.send(.inputEnded)
        bench.answer(BridgeBench.result(1))
        #expect(bench.written == [BridgeBench.result(1)] && !bench.hasEnded)
        bench.advance(.seconds(1))
        #expect(try bench.problem(1).id == 2)
        #expect(bench.requests.map(\.request.method) == ["DELETE"] && bench.header("Mcp-Session-Id") == "s1")
        bench.head(405)
        #expect(bench.hasEnded && bench.wakeUp == nil)
    }

    @Test("a server that does not answer to the end of its session does not delay the exit")
    func deleteHangs() throws {
        var bench = try BridgeBench.connected()
        bench.send(.stop)
        #expect(bench.requests.map(\.request.method) == ["DELETE"] && !bench.hasEnded)
        bench.advance(.seconds(1))
        #expect(bench.hasEnded)
    }

    @Test("without a session of the protocol there is nothing to end")
    func noSession() throws {
        var bench = try BridgeBench.connected(session: nil)
        bench.send(.inputEnded)
        #expect(bench.hasEnded && bench.requests.isEmpty)
    }

    // MARK: Hostile and broken servers

    @Test(
        "a response that is not one of MCP is an error of the bridge",
        arguments: [
            ("<html>", 200, "text/html", "bad_reply"), ("", 204, "", "bad_reply"),
            ("{}", 200, "application/json", "bad_reply"),
            ("{", 200, "application/json", "bad_reply"), (BridgeBench.result(2), 200, "application/json", "bad_reply"),
            ("<html>", 502, "text/html", "provider_error"), ("{}", 500, "application/json", "provider_error"),
            ("slow down", 429, "text/plain", "rate_limited"), ("no", 403, "text/plain", "forbidden"),
        ])
    func badResponse(body: String, status: Int, type: String, kind: String) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.answer(body, status: status, type: type)
        #expect(bench.written.count == 1)
        let problem = try bench.problem(0)
        #expect(problem.id == 1 && problem.code == -33000 && problem.kind == kind)
        #expect(!problem.message.contains("<html>"))
    }

    @Test("a JSON-RPC error with an HTTP status is passed on, with the id of the request if it has none")
    func errorBody() throws {
        var bench = try BridgeBench()
        let error = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#
        bench.line(BridgeBench.call(1))
        bench.answer(error, status: 404)
        bench.line(BridgeBench.call(2))
        bench.answer(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"bad"}}"#, status: 400)
        #expect(bench.written[0] == error)
        #expect(try JSON(parsing: bench.written[1])["id"] == 2)
        #expect(try JSON(parsing: bench.written[1])["error"]?["message"] == "bad")
    }

    @Test("too large: headers, a body, an event; and a compressed response")
    func tooLarge() throws {
        var bench = try BridgeBench()
        for id in 1...4 { bench.line(BridgeBench.call(id)) }
        bench.head(200, [("Content-Type", "application/json"), ("X", String(repeating: "x", count: 70_000))])
        bench.head(200, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")])
        let piece = String(repeating: "x", count: 1 << 20)
        bench.head(200, [("Content-Type", "application/json")])
        bench.stream(of: 1)
        let (body, stream) = (bench.requests[0].call, bench.requests[1].call)
        for _ in 0..<17 {
            bench.send(.piece(body, Array(piece.utf8)))
            bench.send(.piece(stream, Array(("data: " + piece + "\n").utf8)))
        }
        #expect(try (0..<4).map { try bench.problem($0).kind } == Array(repeating: "bad_reply", count: 4))
        #expect(bench.requests.isEmpty && bench.released.allSatisfy { !$0.lingers || $0.call.number <= 2 })
    }

    @Test(
        "valid JSON that cannot be decoded is passed on as it is",
        arguments: [
            #""\ud83d""#, "1e400", #"{"a":[-0.5E+7,{},[],true,null,"\\\""]}"#,
            String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000),
        ])
    func undecodable(value: String) throws {
        var bench = try BridgeBench()
        let answer = #"{"jsonrpc":"2.0", "result":{"x":\#(value)},"id":1}"#
        bench.line(BridgeBench.call(1))
        bench.answer(answer)
        #expect(bench.written == [answer])
    }

    @Test(
        "what is not JSON never reaches the program",
        arguments: [
            #"{"jsonrpc":"2.0","id":1,"result":{"x":"\ud83d"}"#, #"{"jsonrpc":"2.0","id":1,"result":"\ud83d"}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":1e400x}"#, #"{"jsonrpc":"2.0","id":1,"result":[1e400,]}"#,
            #"{"jsonrpc":"2.0","id":1,"id":2,"result":1e400}"#, #"{"jsonrpc":"2.0","id":1,"result":"\ud8"}"#,
        ])
    func notJSON(text: String) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("data: \(text)\n\n")
        #expect(bench.written.count == 1 && bench.requests.isEmpty)
        #expect(try bench.problem(0).kind == "bad_reply")
    }

    @Test("a batch with a response to a request that was not made is refused")
    func wrongBatch() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.answer("[\(BridgeBench.result(1)),\(BridgeBench.result(9))]")
        #expect(bench.written.count == 1)
        #expect(try bench.problem(0).kind == "bad_reply")
    }

    @Test("what a server invents is dropped: other ids")
    func invented() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("data: \(BridgeBench.result(9))\n\n")
        #expect(bench.written.isEmpty && bench.notes.count == 1)
        bench.events("data: \(BridgeBench.result(1))\n\n")
        #expect(bench.written == [BridgeBench.result(1)])
    }

    @Test("a redirect is followed within the origin if it keeps the method, and nowhere else")
    func redirects() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.head(307, [("Location", "/mcp/")])
        #expect(bench.requests[0].request.url == BridgeBench.url + "/" && bench.body() == BridgeBench.call(1))
        bench.head(308, [("Location", "https://elsewhere.example/mcp")])
        #expect(bench.requests.isEmpty)
        #expect(try bench.problem(0).message.contains("redirects to https://elsewhere.example."))
        bench.line(BridgeBench.call(2))
        bench.head(302, [("Location", "/mcp/")])
        #expect(try bench.problem(1).id == 2)
        bench.line(BridgeBench.call(3))
        for _ in 0...3 { bench.head(307, [("Location", "/mcp/")]) }
        #expect(try bench.problem(2).id == 3)
    }

    @Test(
        "an error says whether the server may have performed the request, and is then not retryable",
        arguments: [
            (nil, .connectionLost(host: "h", reason: "r"), true), (nil, .timedOut(host: "h", after: .seconds(1)), true),
            (nil, .connectionRefused(host: "h"), false), (500, nil, true), (502, nil, true), (503, nil, false),
            (429, nil, false), (200, nil, true),
        ] as [(Int?, TransportError?, Bool)])
    func performed(status: Int?, error: TransportError?, isPossible: Bool) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        if let status { bench.answer("<html>", status: status, type: "text/html") } else { bench.end(error) }
        let found = try JSON(parsing: bench.written[0])["error"]
        #expect(found?["data"]?["retryable"] == .bool(!isPossible))
        #expect(found?["message"]?.stringValue?.contains("may have performed") == isPossible)
    }

    @Test("without a network, requests fail with that reason, and not with a request to sign in")
    func offline() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.call(1))
        bench.end(.offline(reason: "there is no route to mcp.example.org"))
        let problem = try bench.problem(0)
        #expect(
            problem.kind == "offline"
                && problem.message == "authd: The machine is offline: there is no route to mcp.example.org.")
    }
}
