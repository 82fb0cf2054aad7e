import AuthGateway
import AuthModel
import AuthWire
import Testing

@Suite("The bridge: the stateless protocol (2026-07-28)")
struct StatelessTests {
    private static func request(_ id: Int, _ method: String, _ params: String = "") -> String {
        let meta = #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#
        return
            #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(params)\#(params.isEmpty ? "" : ",")\#(meta)}}"#
    }

    @Test(
        "each request carries its version, its method and the name that it is about",
        arguments: [
            ("tools/call", #""name":"get_weather""#, "get_weather"), ("prompts/get", #""name":"p""#, "p"),
            ("resources/read", #""uri":"file:///a b""#, "file:///a b"), ("tools/list", #""name":"x""#, nil),
            ("tools/call", "", nil),
        ] as [(String, String, String?)])
    func headers(method: String, params: String, name: String?) throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, method, params))
        #expect(bench.header("MCP-Protocol-Version") == "2026-07-28" && bench.header("Mcp-Method") == method)
        #expect(bench.header("Mcp-Name") == name && bench.header("Mcp-Session-Id") == nil)
    }

    @Test(
        "values that no header can carry are encoded as the specification's examples are",
        arguments: [
            ("us-west1", "us-west1"), ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="), ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="), ("", "=?base64??="), ("a\tb", "a\tb"),
            ("\ta", "=?base64?CWE=?="), ("=?BASE64?x?=", "=?BASE64?x?="),
        ])
    func encoding(value: String, header: String) {
        #expect(RoutingHeaders.encoded(value) == header)
    }

    @Test("a method, a version or a name that cannot be a header is refused, and nothing is sent")
    func unsendable() throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, "tools/call\\r\\nX: y"))
        bench.line(Self.request(2, "tools/call", "\"name\":\"" + String(repeating: "x", count: 5000) + "\""))
        #expect(bench.requests.isEmpty)
        #expect(try bench.problem(0).code == -32600 && bench.problem(1).code == -32600)
    }

    @Test("there is no session, no stream of the server and no resumption")
    func stateless() throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, "tools/list"))
        bench.stream([("Mcp-Session-Id", "s1")])
        bench.events("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
        bench.end()
        #expect(bench.requests.isEmpty && bench.wakeUp == nil)
        #expect(try bench.problem(1).id == 1)
        bench.line(Self.request(2, "tools/list"))
        #expect(bench.header("Mcp-Session-Id") == nil)
        bench.answer(BridgeBench.result(2))
        bench.send(.inputEnded)
        #expect(bench.hasEnded)
    }

    @Test("the end of the connection cancels a request; the notification is not sent")
    func cancel() throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, "subscriptions/listen"))
        bench.stream()
        bench.line(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        #expect(bench.requests.isEmpty && bench.released.map(\.lingers) == [false] && bench.written.isEmpty)
        // One that has its response already.
        bench.line(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        #expect(bench.requests.isEmpty)
    }

    // MARK: Parameters in headers

    private static func tools(_ schemas: [(String, String)]) -> String {
        let tools = schemas.map { #"{"name":"\#($0.0)","inputSchema":{"type":"object","properties":{\#($0.1)}}}"# }
        return #"{"jsonrpc":"2.0","id":1,"result":{"tools":[\#(tools.joined(separator: ","))]}}"#
    }

    private static func listed(_ schemas: [(String, String)]) throws -> BridgeBench {
        var bench = try BridgeBench()
        bench.line(request(1, "tools/list"))
        bench.answer(tools(schemas))
        return bench
    }

    @Test("parameters that a tool wants in headers are sent in them, if the call has them")
    func parameters() throws {
        let schema = #"""
            "region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
            "dry":{"type":"boolean","x-mcp-header":"Dry"},
            "deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deeper"}}}
            """#
        var bench = try Self.listed([("sql", schema)])
        #expect(bench.written == [Self.tools([("sql", schema)]).replacing("\n", with: " ")])
        let arguments = #"{"region":"Übersee","n":42,"dry":false,"deep":{"er":"x"},"query":"SELECT"}"#
        bench.line(Self.request(2, "tools/call", #""name":"sql","arguments":\#(arguments)"#))
        #expect(bench.header("Mcp-Param-Region") == "=?base64?w5xiZXJzZWU=?=" && bench.header("Mcp-Param-N") == "42")
        #expect(bench.header("Mcp-Param-Dry") == "false" && bench.header("Mcp-Param-Deeper") == "x")
        bench.answer(BridgeBench.result(2))
        bench.line(Self.request(3, "tools/call", #""name":"sql","arguments":{"region":null}"#))
        #expect(!bench.requests[0].request.headers.contains { $0.name.hasPrefix("Mcp-Param") })
    }

    @Test(
        "a tool whose annotation is not valid is left out, and the others stay",
        arguments: [
            #""a":{"type":"string","x-mcp-header":""}"#, #""a":{"type":"string","x-mcp-header":"A B"}"#,
            #""a":{"type":"number","x-mcp-header":"A"}"#, #""a":{"type":"object","x-mcp-header":"A"}"#,
            #""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}"#,
            #""a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#,
            #""a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}"#, #""a":{"type":"string","x-mcp-header":1}"#,
        ])
    func invalid(schema: String) throws {
        let bench = try Self.listed([("bad", schema), ("good", "")])
        let tools = try JSON(parsing: bench.written[0])["result"]?["tools"]?.arrayValue
        #expect(tools?.map { $0["name"] } == ["good"])
        #expect(bench.notes.first?.hasPrefix("The tool 'bad' is left out: x-mcp-header") == true)
    }

    private static let mismatch = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}"#

    @Test("a call that the server refuses for its headers is sent once more, after the tools are listed")
    func learn() throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, "tools/call", #""name":"sql","arguments":{"region":"eu"}"#))
        #expect(bench.header("Mcp-Param-Region") == nil)
        bench.answer(Self.mismatch, status: 400)
        #expect(bench.requests.count == 1 && bench.header("Mcp-Method") == "tools/list")
        let list = Self.tools([("sql", #""region":{"type":"string","x-mcp-header":"Region"}"#)])
        bench.answer(list.replacing(#""id":1"#, with: #""id":"authd""#))
        #expect(bench.written.isEmpty && bench.header("Mcp-Param-Region") == "eu")
        bench.answer(Self.mismatch, status: 400)
        #expect(bench.written == [Self.mismatch] && bench.requests.isEmpty)
    }

    @Test("if the tools cannot be listed, the program gets the server's first answer")
    func learnNothing() throws {
        var bench = try BridgeBench()
        bench.line(Self.request(1, "tools/call", #""name":"sql""#))
        bench.answer(Self.mismatch, status: 400)
        bench.head(500)
        #expect(bench.written == [Self.mismatch] && bench.requests.isEmpty)
    }

    @Test("a default value that looks like an annotation is none")
    func notAnAnnotation() throws {
        let bench = try Self.listed([("t", #""a":{"type":"object","default":{"x-mcp-header":"A"}}"#)])
        #expect(try JSON(parsing: bench.written[0])["result"]?["tools"]?.arrayValue?.count == 1)
    }
}
