import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("Answers with much in them")
struct LargeResponseTests {
    /// More values than are made of one answer, in 140 kB.
    private static let many = "[ " + String(repeating: "0, ", count: Limits.jsonValues) + "0 ]"

    private static func provider(
        _ answer: String, enveloped: Bool = false
    ) throws -> ExampleProvider {
        try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                guard request.url.hasSuffix("/login") else { return ExampleProvider.json(200, answer) }
                return ExampleProvider.json(
                    200, #"{"ok":1,"token":"t","expires_in":1000,"user":{"id":"7"}}"#)
            }
        ) { profile in
            guard enveloped else { return }
            profile.errors = ErrorMap(
                message: [try JSONPointer("/message")],
                envelope: .init(pointer: try JSONPointer("/ok"), success: 1, status: nil))
        }
    }

    @Test("a response that is not read here is passed on as text, with any number of values")
    func passedOn() async throws {
        try await APIClientTests.play(try Self.provider(Self.many)) { _, api in
            let answer = try await api.request(APIClientTests.get)
            #expect(answer.body == nil)
            #expect(answer.bodyText == Array(Self.many.replacing(" ", with: "").utf8))
            // The same holds for what is kept.
            let kept = try await api.request(
                APIRequest(method: "GET", path: "/things?n=1", cache: .standard))
            #expect(kept.bodyText == answer.bodyText)
        }
    }

    @Test("one that is looked into for its errors has 65,536 values at most, and its error is found")
    func lookedInto() async throws {
        for (answer, cause) in [
            (#"{"ok":1,"list":\#(Self.many)}"#, "undecodable"), (#"{"ok":0,"message":"No."}"#, nil),
        ] {
            try await APIClientTests.play(try Self.provider(answer, enveloped: true)) { _, api in
                let error = await #expect(throws: AgentError.self) { try await api.request(APIClientTests.get) }
                #expect(cause == nil ? error?.providerMessage == "No." : error?.cause == cause)
            }
        }
    }

    @Test("an error that is labelled as a page has 65,536 values at most, too")
    func labelledAsPage() async throws {
        let body = #"{"error":"invalid_request","list":\#(Self.many)}"#
        let example = try APIClientTests.provider { _, _ throws(TransportError) in
            HTTPResponse(status: 400, headers: [("Content-Type", "text/html")], body: Array(body.utf8))
        }
        try await APIClientTests.play(example) { _, api in
            let error = await #expect(throws: AgentError.self) { try await api.request(APIClientTests.get) }
            #expect(error?.kind == .badReply && error?.cause == "html")
        }
    }

    @Test("invalid JSON is reported as unreadable, and an HTML page is not text")
    func unreadable() async throws {
        try await APIClientTests.play(try Self.provider(#"{"a":[1,2}"#)) { _, api in
            let error = await #expect(throws: AgentError.self) { try await api.request(APIClientTests.get) }
            #expect(error?.kind == .badReply && error?.cause == "undecodable")
        }
    }

    @Test("a call may be answered with 8 MiB, and everything that is made into values with 1 MiB")
    func sizes() async throws {
        let sizes = Sizes()
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                sizes.note(request)
                return ExampleProvider.json(200, #"{"token":"t","expires_in":1000,"user":{"id":"7"}}"#)
            })
        try await APIClientTests.play(example) { sessions, api in
            _ = try await api.request(APIClientTests.get)
            example.clock.advance(.seconds(400))
            _ = try await sessions.refresh(SessionParams())
        }
        #expect(
            sizes.all == [
                "/login": HTTPRequest.largestDocument, "/things?n=1": HTTPRequest.largestAnswer,
                "/refresh": HTTPRequest.largestDocument,
            ])
        #expect(HTTPRequest.largestDocument == 1_048_576 && HTTPRequest.largestAnswer == 8_388_608)
    }
}

/// How much each path may be answered with.
private final class Sizes: Sendable {
    private let sizes = Mutex<[String: Int]>([:])

    var all: [String: Int] { sizes.withLock { $0 } }

    func note(_ request: HTTPRequest) {
        let path = String(request.url.dropFirst("http://localhost:1".count))
        sizes.withLock { $0[path] = request.largestReply }
    }
}
