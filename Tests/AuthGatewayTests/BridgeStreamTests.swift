import AuthGateway
import AuthModel
import AuthWire
import Testing

@Suite("The bridge: sessions of the protocol and streams")
struct BridgeStreamTests {
    @Test("a broken stream is continued after its last event, when the server's pause has ended")
    func resume() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events(
            "id: e1\nretry: 300\ndata:\n\nid: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
        bench.end(.connectionLost(host: "mcp.example.org", reason: "the other side closed it"))
        #expect(bench.requests.isEmpty)
        bench.advance(.milliseconds(299))
        #expect(bench.requests.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.requests.map(\.request.method) == ["GET"] && bench.header("Last-Event-ID") == "e2")
        #expect(bench.header("Accept") == "text/event-stream" && bench.header("Mcp-Session-Id") == "s1")
        #expect(bench.body() == nil)
        bench.stream()
        bench.events("id: e3\ndata: \(BridgeBench.result(1))\n\n")
        #expect(bench.written.last == BridgeBench.result(1) && bench.written.count == 2)
    }

    @Test("a stream without ids cannot be continued: an error says that the request may have been performed")
    func noIDs() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
        bench.end()
        #expect(bench.requests.isEmpty && bench.wakeUp == nil)
        #expect(try bench.problem(1).message.contains("it is not sent again"))
    }

    @Test("an id that no header can carry is not sent back")
    func badID() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("id: ä\u{1}\ndata:\n\n")
        bench.end()
        #expect(try bench.problem(0).id == 1)
    }

    @Test("attempts to continue a stream pause longer each time, and end")
    func giveUp() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("id: e1\ndata:\n\n")
        bench.end()
        var pauses: [Duration] = []
        while bench.written.isEmpty {
            var pause = Duration.zero
            while bench.requests.isEmpty {
                bench.advance(.seconds(1))
                pause += .seconds(1)
            }
            pauses.append(pause)
            bench.end(.connectionRefused(host: "mcp.example.org"))
        }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16), .seconds(30)])
        #expect(try bench.problem(0).kind == "provider_unreachable")
    }

    @Test("a server that requires a longer pause than the limit is not asked again")
    func longRetry() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("retry: 99999999999999999999\nid: 1\ndata:\n\n")
        bench.end()
        #expect(try bench.problem(0).id == 1)
    }

    @Test("the stream of the server brings its messages, and is opened again after its end")
    func listen() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.answer(BridgeBench.welcome)
        bench.line(BridgeBench.initialized)
        bench.accept()
        #expect(bench.requests.map(\.request.method) == ["GET"] && bench.header("Last-Event-ID") == nil)
        bench.stream()
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        bench.events("id: 5\ndata: \(ping)\n\n")
        #expect(bench.written.last == ping)
        bench.end()
        bench.advance(.seconds(1))
        #expect(bench.requests.map(\.request.method) == ["GET"] && bench.header("Last-Event-ID") == "5")
        // It ends with the input.
        bench.send(.inputEnded)
        #expect(bench.hasEnded)
    }

    @Test(
        "a server whose stream fails is asked again, with growing pauses; one without a stream is not",
        arguments: [405, 404, 503])
    func noStream(status: Int) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.answer(BridgeBench.welcome)
        bench.line(BridgeBench.initialized)
        bench.accept()
        bench.head(status)
        bench.advance(.seconds(1))
        #expect(bench.requests.count == (status == 503 ? 1 : 0))
    }

    @Test("after a 404 the session is begun again with the program's own messages, and the request is sent again")
    func sessionEnds() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.line(BridgeBench.call(2))
        bench.head(404)
        #expect(bench.requests.count == 2 && bench.body(of: 1) == BridgeBench.initialize)
        #expect(bench.header("Mcp-Session-Id", of: 1) == nil)
        // The second one learns of it while the session is begun.
        bench.head(404)
        #expect(bench.requests.count == 1)
        bench.line(BridgeBench.call(3))
        bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", "s2")])
        #expect(bench.requests.count == 1 && bench.body() == BridgeBench.initialized)
        #expect(bench.header("Mcp-Session-Id") == "s2")
        bench.accept()
        let posts = bench.requests.indices.filter { bench.requests[$0].request.method == "POST" }
        #expect(Set(posts.map { bench.body(of: $0) ?? "" }) == Set([1, 2, 3].map(BridgeBench.call)))
        #expect(posts.allSatisfy { bench.header("Mcp-Session-Id", of: $0) == "s2" })
        // The program's second answer to initialize would be one too many.
        #expect(bench.written.isEmpty)
        let again = try #require(posts.first { bench.body(of: $0) == BridgeBench.call(1) })
        bench.head(404, of: again)
        #expect(try bench.problem(0).id == 1)
    }

    @Test("if the new session is another one, the requests that wait for it get an error")
    func otherSession() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.head(404)
        bench.answer(#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05"}}"#)
        #expect(try bench.problem(0).id == 1)
        // The next request learns of the end of the session too, and the bridge tries again.
        bench.line(BridgeBench.call(2))
        #expect(bench.requests.count == 1 && bench.header("Mcp-Session-Id") == "s1")
        bench.head(404)
        #expect(bench.requests.count == 1 && bench.body() == BridgeBench.initialize)
        bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", "s2")])
        bench.accept()
        let index = try #require(bench.requests.indices.first { bench.body(of: $0) == BridgeBench.call(2) })
        bench.answer(BridgeBench.result(2), of: index)
        #expect(bench.written.last == BridgeBench.result(2))
    }

    @Test("after a server that could not begin a new session, the next request tries again", arguments: [500, 202])
    func failedReopening(status: Int) throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.head(404)
        if status == 202 {
            bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", "s2")])
            // Its notification is refused.
            bench.head(500)
        } else {
            bench.head(status)
        }
        #expect(try bench.problem(0).id == 1)
        bench.line(BridgeBench.call(2))
        #expect(bench.header("Mcp-Session-Id") == "s1")
        bench.head(404)
        #expect(bench.body() == BridgeBench.initialize)
    }

    @Test("a stream of a session that was replaced is not continued, and a response to its request is dropped")
    func replaced() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("id: e1\ndata:\n\n")
        bench.end()
        bench.line(BridgeBench.call(2))
        bench.line(BridgeBench.result(9))
        bench.head(404)
        bench.head(404)
        bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", "s2")])
        bench.accept()
        bench.advance(.seconds(1))
        #expect(try bench.problem(0).id == 1)
        #expect(bench.requests.indices.allSatisfy { bench.body(of: $0) != BridgeBench.result(9) })
        #expect(bench.requests.indices.contains { bench.body(of: $0) == BridgeBench.call(2) })
    }

    @Test("a server that asks for no pause is asked at most twice a second if it sends no message")
    func noPause() throws {
        var bench = try BridgeBench.connected()
        bench.line(BridgeBench.call(1))
        bench.stream()
        bench.events("retry: 0\nid: e1\ndata:\n\n")
        bench.end()
        bench.advance(.milliseconds(499))
        #expect(bench.requests.isEmpty)
        bench.advance(.milliseconds(1))
        #expect(bench.requests.count == 1)
    }

    @Test("a protocol version that no header can carry is not sent")
    func badVersion() throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.answer(#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"a\r\nX: y"}}"#)
        bench.line(BridgeBench.initialized)
        #expect(bench.requests.count == 1 && bench.header("MCP-Protocol-Version") == nil)
    }

    @Test("a session id with characters other than visible ASCII is refused", arguments: ["", "a b", "ä", "a\u{7F}"])
    func badSessionID(id: String) throws {
        var bench = try BridgeBench()
        bench.line(BridgeBench.initialize)
        bench.answer(BridgeBench.welcome, [("Mcp-Session-Id", id)])
        #expect(try bench.problem(0).kind == "bad_reply")
    }
}
