import AuthModel
import AuthWire
import Testing

@testable import AuthMachines

@Suite("Discovery of a protected resource")
struct ResourceDiscoveryTests {
    private static let inserted = "https://a.example/.well-known/oauth-protected-resource/mcp"
    private static let root = "https://a.example/.well-known/oauth-protected-resource"
    private static let good: JSON = [
        "resource": "https://a.example/mcp", "authorization_servers": ["https://as.example"],
        "scopes_supported": ["read"],
    ]

    private struct Outcome {
        var requests: [String] = []
        var found: ResourceMetadata?
        var scopes: [String] = []
        var error: AgentError?
    }

    /// - Parameter answer: to each request, by method and URL.
    private func discover(
        _ url: String = "https://a.example/mcp", _ answer: (String) -> Result<HTTPResponse, AgentError>
    ) throws -> Outcome {
        var discovery = ResourceDiscovery(try ResourceURL(url))
        var outcome = Outcome()
        var reply: Result<HTTPResponse, AgentError>?
        do throws(AgentError) {
            while true {
                switch try discovery.next(reply) {
                case .found(let metadata, let scopes):
                    (outcome.found, outcome.scopes) = (metadata, scopes)
                    return outcome
                case .send(let request):
                    #expect(!request.headers.contains { $0.name == "Authorization" })
                    outcome.requests.append("\(request.method) \(request.url)")
                    guard outcome.requests.count < 30 else { return outcome }
                    reply = answer(outcome.requests[outcome.requests.count - 1])
                }
            }
        } catch {
            outcome.error = error
            return outcome
        }
    }

    private func status(_ status: Int, challenge: String? = nil, _ json: JSON? = nil) -> Result<
        HTTPResponse, AgentError
    > {
        .success(
            HTTPResponse(
                status: status, headers: challenge.map { [("WWW-Authenticate", $0)] } ?? [],
                body: json.map { $0.serialized() } ?? []))
    }

    @Test("the challenge names the metadata and the scopes")
    func named() throws {
        let place = "https://elsewhere.example/metadata"
        let outcome = try discover { request in
            request.hasSuffix(place)
                ? status(200, Self.good)
                : status(401, challenge: "Bearer scope=\"files:read files:write\", resource_metadata=\"\(place)\"")
        }
        #expect(outcome.requests == ["GET https://a.example/mcp", "GET " + place])
        #expect(outcome.found?.servers == ["https://as.example"])
        #expect(outcome.scopes == ["files:read", "files:write"])
    }

    @Test("without a challenge, the path is inserted, and then the root is tried", arguments: [401, 200, 403])
    func wellKnown(first: Int) throws {
        let outcome = try discover { request in
            request == "GET " + Self.root
                ? status(200, Self.good) : status(request.contains("well-known") ? 404 : first)
        }
        #expect(outcome.requests == ["GET https://a.example/mcp", "GET " + Self.inserted, "GET " + Self.root])
        #expect(outcome.scopes == ["read"])
    }

    @Test("a resource without GET gets what an MCP client sends first", arguments: [400, 404, 405, 406, 415])
    func post(first: Int) throws {
        let outcome = try discover("https://a.example/mcp?tenant=1") { request in
            if request.hasPrefix("GET https://a.example/mcp") { return status(first) }
            if request.hasPrefix("POST") { return status(401, challenge: "Bearer resource_metadata=\"\(Self.root)\"") }
            return status(200, Self.good)
        }
        #expect(
            outcome.requests == [
                "GET https://a.example/mcp?tenant=1", "POST https://a.example/mcp?tenant=1", "GET " + Self.root,
            ])
        #expect(outcome.found != nil)
    }

    @Test("metadata that names another resource ends it with both names, and nothing more is sent")
    func otherResource() throws {
        let outcome = try discover { request in
            request.contains("well-known")
                ? status(200, ["resource": "https://b.example/mcp", "authorization_servers": ["https://as.example"]])
                : status(401)
        }
        #expect(outcome.requests.count == 2)
        #expect(outcome.error?.message.contains("https://b.example/mcp, not https://a.example/mcp") == true)
        #expect(outcome.error?.cause == "resource_metadata" && outcome.error?.retryable == false)
    }

    @Test("a loop of challenges ends after five")
    func loop() throws {
        var number = 0
        let outcome = try discover { _ in
            number += 1
            return status(401, challenge: "Bearer resource_metadata=\"https://a.example/\(number)\"")
        }
        #expect(outcome.error?.cause == "challenge_loop")
        #expect(outcome.requests.count == ResourceDiscovery.maxChallenges + 1)
    }

    @Test("metadata at an address of this machine, or over plain http, is not requested")
    func ownMachine() throws {
        for place in ["http://127.0.0.1:631/", "https://localhost/x", "http://a.example/x"] {
            let outcome = try discover { _ in status(401, challenge: "Bearer resource_metadata=\"\(place)\"") }
            #expect(outcome.requests.count == 1)
            #expect(outcome.error?.message.contains(place) == true)
        }
    }

    @Test("HTML, too much, another type or a redirect at each address is reported with the address")
    func broken() throws {
        let page = HTTPResponse(status: 200, headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))
        let large = AgentError(.badReply, "The provider's response is larger than 1 MiB.", cause: "too_large")
        let moved = AgentError(.badReply, "The provider redirects to https://b.example.", cause: "redirected")
        for (reply, words) in [
            (.success(page), "HTML"), (.failure(large), "larger than 1 MiB"), (.failure(moved), "https://b.example"),
            (status(200, ["a"]), "not a JSON object"),
        ] as [(Result<HTTPResponse, AgentError>, String)] {
            let outcome = try discover { $0.contains("well-known") ? reply : status(401) }
            #expect(outcome.error?.kind == .badReply && outcome.error?.cause == "no_resource_metadata")
            #expect(outcome.error?.details.map { $0.contains(words) } == [true, true])
            #expect(outcome.error?.details[0].hasPrefix(Self.inserted) == true)
        }
    }

    @Test("a resource that requires no sign-in, or does not exist, is reported as that")
    func nothing() throws {
        let open = try discover { status($0.contains("well-known") ? 404 : 200) }
        #expect(open.error?.message.contains("answers without a sign-in") == true)
        let missing = try discover { _ in status(404) }
        #expect(missing.error?.message.contains("HTTP 404") == true && missing.error?.kind == .unsupported)
    }

    @Test("a temporary failure says nothing about the resource")
    func temporary() throws {
        let down = try discover { _ in status(503) }
        #expect(down.error?.kind == .providerError && down.error?.retryable == true && down.requests.count == 1)
        let limited = try discover { status($0.contains("well-known") ? 429 : 401) }
        #expect(limited.error?.kind == .rateLimited && limited.requests.count == 2)
        let slow = AgentError(.timeout, "a.example did not respond within 15 s.", cause: "timed_out")
        let late = try discover { $0.contains("well-known") ? .failure(slow) : status(401) }
        #expect(late.error == slow)
    }

    @Test("a redirect of the resource itself to another origin is not followed")
    func moved() throws {
        let moved = AgentError(.badReply, "The provider redirects to https://b.example.", cause: "redirected")
        let outcome = try discover { _ in .failure(moved) }
        #expect(outcome.requests.count == 1)
        #expect(outcome.error?.message.contains("https://b.example") == true)
    }
}
