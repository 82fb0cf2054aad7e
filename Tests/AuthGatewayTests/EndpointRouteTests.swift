import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("What a program may have from the local HTTP endpoint")
struct EndpointRouteTests {
    private static let one = String(repeating: "1", count: 64)
    private static let two = String(repeating: "2", count: 64)
    private let keys: EndpointKeys
    private let name: ClientName

    init() throws {
        name = try ClientName("reports")
        keys = EndpointKeys([
            (name, try FrontKey(text: Self.one)), (try ClientName("backup"), try FrontKey(text: Self.two)),
        ])
    }

    private func request(
        _ target: String, _ fields: [(String, String)] = [], method: String = "GET"
    ) -> FrontRequest {
        let head = FrontHead(method: method, target: target, fields: fields.map { ($0.0, $0.1) })
        return FrontRequest(head: head, target: target)
    }

    private func status(_ body: () throws -> Void) -> Int {
        do {
            try body()
            return 200
        } catch {
            return (error as? FrontProblem)?.status ?? 0
        }
    }

    @Test("the paths are those of the views, and nothing else is accepted")
    func routes() throws {
        let work = try SessionName("work")
        #expect(try EndpointRoute(request("/v1/token")) == .token(session: nil))
        #expect(try EndpointRoute(request("/v1/token?session=work")) == .token(session: work))
        #expect(try EndpointRoute(request("/v1/aws?x=y")) == .aws)
        #expect(try EndpointRoute(request("/metrics")) == .metrics)
        for (target, expected) in [
            ("/", 404), ("/v1/token/", 404), ("/v1/tokens", 404), ("//v1/token", 404), ("*", 404),
            ("/v1/token?session=", 400), ("/v1/token?session=A", 400), ("/v1/token?session=a&session=b", 400),
            ("/v1/token?sesion=work", 400), ("/v1/token?session=%zz", 400),
            ("/v1/token?session=" + String(repeating: "a", count: 3000), 400),
        ] {
            #expect(status { _ = try EndpointRoute(request(target)) } == expected, "\(target)")
        }
        for method in ["POST", "HEAD", "OPTIONS", "DELETE"] {
            #expect(status { _ = try EndpointRoute(request("/v1/token", method: method)) } == 405, "\(method)")
        }
    }

    @Test("a key is sent alone, after Bearer, or in its own header, and names its program")
    func key() throws {
        for fields in [
            [("Authorization", Self.one)], [("Authorization", "Bearer \(Self.one)")],
            [("authorization", "bearer \(Self.one)")], [("Authd-Key", Self.one)],
        ] {
            #expect(try keys.client(of: request("/v1/token", fields).head) == name)
        }
        let other = try keys.client(of: request("/v1/token", [("Authd-Key", Self.two)]).head)
        #expect(other.text == "backup")
    }

    @Test("without a key, with a wrong one, or with two, a request is refused")
    func wrongKey() throws {
        for fields in [
            [], [("Authorization", "")], [("Authorization", "Bearer ")], [("Authorization", "Basic \(Self.one)")],
            [("Authorization", String(Self.one.dropLast()))], [("Authorization", Self.one + "1")],
            [("Authorization", Self.one), ("Authd-Key", Self.one)], [("X-Key", Self.one)],
        ] {
            #expect(status { _ = try keys.client(of: request("/v1/token", fields).head) } == 403, "\(fields)")
        }
        #expect(status { _ = try keys.client(of: request("/\(Self.one)/v1/token").head) } == 403)
    }

    @Test("a program gets the sessions and the view that it was added with")
    func sessions() throws {
        let (work, home) = (try SessionName("work"), try SessionName("home"))
        let client = EndpointClient(view: .token, sessions: [work, home])
        func session(_ target: String, _ client: EndpointClient) throws -> SessionName? {
            try EndpointRoute(request(target)).session(for: client, named: name)
        }
        #expect(try session("/v1/token", client) == work)
        #expect(try session("/v1/token?session=home", client) == home)
        #expect(status { _ = try session("/v1/token?session=other", client) } == 403)
        #expect(status { _ = try session("/v1/aws", client) } == 403)
        #expect(status { _ = try session("/metrics", client) } == 403)
        #expect(try session("/metrics", EndpointClient(view: .metrics)) == nil)
        #expect(status { _ = try session("/v1/token", EndpointClient(view: .metrics)) } == 403)
    }

    @Test("an error has the form of its view, and nothing that stays wrong is a 5xx")
    func errors() throws {
        let ended = FrontProblem(
            endpoint: AgentError(.signInRequired, "The session has ended."), login: "authc login -s work")
        #expect(ended.status == 401 && ended.detail.contains("authc login -s work"))
        func json(_ view: EndpointClient.View) throws -> JSON {
            try JSON(parsing: EndpointReply(ended, for: view).body)
        }
        #expect(try json(.aws)["Code"] == "sign_in_required")
        #expect(try json(.aws)["Message"] == .string(ended.detail))
        #expect(try json(.gce)["error"] == "sign_in_required")
        #expect(try json(.token)["kind"] == "sign_in_required")
        let lasting = FrontProblem(endpoint: AgentError(.unsupported, "No scopes."), login: "")
        #expect(lasting.status == 400)
        let locked = FrontProblem(endpoint: AgentError(.keyringLocked, "Locked.", retryAfter: .seconds(3)), login: "")
        let reply = EndpointReply(locked, for: .aws)
        #expect(reply.status == 503 && reply.fields.contains { $0 == ("Retry-After", "3") })
        let wrongMethod = EndpointReply(FrontProblem(405, .unsupported, "Use GET."), for: .token)
        #expect(wrongMethod.fields.contains { $0 == ("Allow", "GET") })
        #expect(reply.fields.contains { $0 == ("Cache-Control", "no-store") })
    }
}

@Suite("The entry of a program")
struct EndpointClientTests {
    private static let role = "arn:aws:iam::123456789012:role/reader"

    @Test("each view has what it needs, and nothing else")
    func valid() throws {
        let work = try SessionName("work")
        let valid = [
            EndpointClient(view: .token, sessions: [work], scopes: ["read"], audience: "https://api.example.org"),
            EndpointClient(view: .aws, sessions: [work], role: Self.role, sts: "https://sts.example.org"),
            EndpointClient(view: .gce, sessions: [work], port: 7872), EndpointClient(view: .metrics),
        ]
        for client in valid {
            try client.validate()
            #expect(try EndpointClient.decode(stored: client.json) == client)
        }
        let invalid = [
            EndpointClient(view: .token), EndpointClient(view: .token, sessions: [work], role: Self.role),
            EndpointClient(view: .token, sessions: [work], port: 7872),
            EndpointClient(view: .token, sessions: Array(repeating: work, count: 33)),
            EndpointClient(view: .aws, sessions: [work]), EndpointClient(view: .aws, role: Self.role),
            EndpointClient(view: .aws, sessions: [work, work], role: Self.role),
            EndpointClient(view: .aws, sessions: [work], role: "reader"),
            EndpointClient(view: .aws, sessions: [work], role: "arn:aws:iam::1:role/a b"),
            EndpointClient(view: .gce, sessions: [work]), EndpointClient(view: .gce, sessions: [work], port: 0),
            EndpointClient(view: .gce, sessions: [work], port: 65536),
            EndpointClient(view: .metrics, sessions: [work]), EndpointClient(view: .metrics, scopes: ["read"]),
            EndpointClient(view: .token, sessions: [work], sts: "https://sts.example.org"),
        ]
        for client in invalid {
            #expect(throws: AgentError.self, "\(client)") { try client.validate() }
            #expect(throws: AgentError.self) { try EndpointClient.decode(stored: client.json) }
        }
    }

    @Test("a name is one of a file")
    func names() throws {
        #expect(try ClientName("reports-2").text == "reports-2")
        for text in ["", ".", "..", "../x", "a/b", "A", String(repeating: "a", count: 65)] {
            #expect(throws: AgentError.self, "\(text)") { try ClientName(text) }
        }
    }
}
