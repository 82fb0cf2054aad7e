import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("Calls in a session's name")
struct APIClientTests {
    static let get = APIRequest(method: "GET", path: "/things?n=1")

    /// A provider whose sign-in and renewal number their tokens, and whose other paths a test answers.
    static func provider(
        _ answer: @escaping @Sendable (HTTPRequest, _ token: String?) async throws(TransportError) -> HTTPResponse
    ) throws -> ExampleProvider {
        let counter = Counter()
        return try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                if request.url.hasSuffix("/login") || request.url.hasSuffix("/refresh") {
                    return ExampleProvider.json(
                        200, #"{"token":"token-\#(counter.next())","expires_in":1000,"user":{"id":"7"}}"#)
                }
                let field = request.headers.first { $0.name == "Authorization" }?.value.reveal()
                return try await answer(request, field.map { String($0.dropFirst(7)) })
            })
    }

    static func play(
        _ example: ExampleProvider, _ test: @escaping @Sendable (SessionRequests, APIClient) async throws -> Void
    ) async throws {
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            try await test(sessions, example.apiClient)
        }
    }

    private static func failure(
        _ call: () async throws(AgentError) -> APIResponse
    ) async -> AgentError? {
        do throws(AgentError) {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }

    @Test("the token is added, and the response is returned unchanged")
    func plain() async throws {
        let example = try Self.provider { request, token throws(TransportError) in
            #expect(token == "token-1")
            return HTTPResponse(
                status: 201, headers: [("Content-Type", "application/json"), ("X-A", "1"), ("x-a", "2")],
                body: Array(#"{"name":"thing"}"#.utf8))
        }
        try await Self.play(example) { _, api in
            let answer = try await api.request(Self.get)
            #expect(
                answer.json
                    == APIResponse(
                        status: 201, headers: ["content-type": "application/json", "x-a": "1, 2"],
                        body: ["name": "thing"]
                    ).json)
        }
        #expect(example.transport.asked == ["POST http://localhost:1/login", "GET http://localhost:1/things?n=1"])
    }

    @Test("a 401 renews the session once for all who got it, and each call is sent once more")
    func renewsOnce() async throws {
        let example = try Self.provider { _, token throws(TransportError) in
            token == "token-1" ? ExampleProvider.json(401, "{}") : ExampleProvider.json(200, "1")
        }
        try await Self.play(example) { _, api in
            example.clock.advance(.seconds(400))
            let answers = try await withThrowingTaskGroup(of: APIResponse.self) { group in
                for _ in 1...20 { group.addTask { try await api.request(Self.get) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 20 && answers.allSatisfy { $0.body == 1 })
        }
        #expect(example.transport.asked.count { $0 == "POST http://localhost:1/refresh" } == 1)
        #expect(example.transport.asked.count { $0.hasPrefix("GET") } <= 40)
    }

    @Test("a 401 after the renewal is an error with the provider's words, and there is no third try")
    func refusedTwice() async throws {
        let example = try Self.provider { _, _ throws(TransportError) in
            ExampleProvider.json(401, #"{"message":"No, never."}"#)
        }
        try await Self.play(example) { sessions, api in
            example.clock.advance(.seconds(400))
            let error = await Self.failure { () async throws(AgentError) in try await api.request(Self.get) }
            #expect(error?.kind == .refused && error?.providerMessage == "No, never.")
            // Only the answer to a renewal ends a session.
            let state = try sessions.status(nil).state
            #expect(state == .active)
            // A token that young is not renewed for another 401: an endpoint that always says so makes no storm.
            _ = await Self.failure { () async throws(AgentError) in try await api.request(Self.get) }
        }
        #expect(example.transport.asked.count { $0 == "POST http://localhost:1/refresh" } == 1)
        #expect(example.transport.asked.count { $0.hasPrefix("GET") } == 3)
    }

    @Test("a page that says 401 comes from somewhere between, and renews nothing")
    func pageWith401() async throws {
        let example = try Self.provider { _, _ throws(TransportError) in
            HTTPResponse(status: 401, headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
        }
        try await Self.play(example) { _, api in
            example.clock.advance(.seconds(400))
            let error = await Self.failure { () async throws(AgentError) in try await api.request(Self.get) }
            #expect(error?.kind == .badReply && error?.cause == "html")
        }
        #expect(example.transport.asked.count == 2)
    }

    @Test("a read is tried three times with pauses between, on new connections; a write once")
    func retries() async throws {
        let example = try Self.provider { request, _ throws(TransportError) in
            if request.method == "GET" { throw .connectionLost(host: "h", reason: "r") }
            return ExampleProvider.json(503, #"{"message":"Later."}"#)
        }
        try await Self.play(example) { _, api in
            async let failure = Self.failure { () async throws(AgentError) in try await api.request(Self.get) }
            for pause in [1.25, 2.5] {
                let start = example.clock.now().boot
                await example.clock.somebodySleeps(until: start + .seconds(pause))
                example.clock.advance(.seconds(pause))
            }
            #expect(await failure?.kind == .providerUnreachable)
            // One more than the tries: for the token of the sign-in.
            #expect((3...4).contains(example.transport.closed.count))
            #expect(Set(example.transport.closed) == ["http://localhost:1"])
            let post = APIRequest(method: "POST", path: "/things", body: ["a": 1])
            let error = await Self.failure { () async throws(AgentError) in try await api.request(post) }
            #expect(error?.kind == .providerError && error?.providerMessage == "Later.")
            var once = Self.get
            once.retry = false
            #expect(await Self.failure { () async throws(AgentError) in try await api.request(once) } != nil)
        }
        #expect(example.transport.asked.dropFirst().map { $0.prefix(4) } == ["GET ", "GET ", "GET ", "POST", "GET "])
    }

    @Test("a response that does not fit into a line is an error; one that is not JSON is returned unchanged")
    func bodies() async throws {
        let big = String(repeating: "x", count: Limits.lineBytes)
        let example = try Self.provider { request, _ throws(TransportError) in
            switch request.url.split(separator: "/").last {
            case "big": ExampleProvider.json(200, "\"\(big)\"")
            case "text": HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")], body: Array("0123".utf8))
            case "picture": HTTPResponse(status: 200, headers: [("Content-Type", "image/png")], body: [0x7B, 0, 0xFF])
            case "page": HTTPResponse(status: 200, headers: [("Content-Type", "text/html")], body: Array("<p>".utf8))
            default: HTTPResponse(status: 204, headers: [], body: [])
            }
        }
        try await Self.play(example) { _, api in
            func get(_ path: String, _ headers: [String: String] = [:]) async throws(AgentError) -> APIResponse {
                try await api.request(APIRequest(method: "GET", path: path, headers: headers))
            }
            #expect(await Self.failure { () async throws(AgentError) in try await get("/big") }?.kind == .tooLarge)
            #expect(await Self.failure { () async throws(AgentError) in try await get("/page") }?.cause == "html")
            let (text, picture) = (try await get("/text"), try await get("/picture"))
            #expect(text.body == "0123" && picture.bodyBase64 == "ewD/")
            let (page, none) = (try await get("/page", ["Accept": "text/html"]), try await get("/none"))
            #expect(page.bodyBase64 == "PHA+" && none == APIResponse(status: 204))
        }
    }

    @Test(
        "what a caller may not send is refused before anything is sent",
        arguments: [
            APIRequest(method: "GET", path: "/a", headers: ["Authorization": "Bearer x"]),
            APIRequest(method: "GET", path: "/a", headers: ["host": "evil.example"]),
            APIRequest(method: "GET", path: "/a", headers: ["X-A": "1\r\nX-B: 2"]),
            APIRequest(method: "GET", path: "/a", headers: ["X A": "1"]),
            APIRequest(method: "GET", path: "/a", body: 1), APIRequest(method: "G T", path: "/a"),
            APIRequest(method: "CONNECT", path: "/a"),
            APIRequest(method: "PUT", path: "/a", bodyBase64: "*"),
            APIRequest(
                method: "POST", path: "/a", multipart: [MultipartPart(name: "a\u{0}", content: .text("b"))]),
        ])
    func refused(params: APIRequest) async throws {
        let example = try Self.provider { _, _ throws(TransportError) in ExampleProvider.json(200, "1") }
        try await Self.play(example) { _, api in
            let error = await Self.failure { () async throws(AgentError) in try await api.request(params) }
            #expect(error?.kind == .validation)
        }
        #expect(example.transport.asked.count == 1)
    }

    @Test("a multipart body has its parts in order, each with its own head")
    func multipart() async throws {
        let sent = Mutex("")
        let example = try Self.provider { request, _ throws(TransportError) in
            let type = request.headers.first { $0.name == "Content-Type" }?.value.reveal() ?? ""
            sent.withLock { $0 = type + "\n" + (request.body?.reveal() ?? "") }
            return ExampleProvider.json(200, "1")
        }
        try await Self.play(example) { _, api in
            let parts = [
                MultipartPart(name: "title", content: .text("A \"b\"")),
                MultipartPart(name: "f", fileName: "a\"b.jpg", type: "image/jpeg", content: .base64("AAE=")),
                MultipartPart(name: "g", fileName: "g", content: .base64("")),
            ]
            _ = try await api.request(APIRequest(method: "POST", path: "/a", multipart: parts))
        }
        let text = sent.withLock { $0 }
        let boundary = try #require(text.split(separator: "\n").first?.split(separator: "=").last)
        #expect(boundary.count >= 20 && boundary.count <= 70)
        #expect(
            text == "multipart/form-data; boundary=\(boundary)\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA \"b\"\r\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a%22b.jpg\"\r\n"
                + "Content-Type: image/jpeg\r\n\r\n\u{0}\u{1}\r\n"
                + "--\(boundary)\r\nContent-Disposition: form-data; name=\"g\"; filename=\"g\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n\r\n--\(boundary)--\r\n")
    }
}
