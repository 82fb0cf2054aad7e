import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StandInBackends
import TestSupport

/// A plain HTTP client that knows nothing of the agent.
struct Client: Sendable {
    struct Reply: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue { get throws { try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) } }
        func header(_ name: String) -> String? { headers.first(name: name) }
        var message: String? { try? json["message"]?.string }
    }

    let http: HTTPClient
    let standIns: StandIns

    /// Runs stand-ins and a client for as long as the test does.
    static func with(
        _ configuration: StandIns.Configuration = .init(),
        _ test: @Sendable @escaping (Client) async throws -> Void
    ) async throws {
        try await StandIns.serving(configuration) { standIns in
            var settings = HTTPClient.Configuration()
            settings.connectionPool.retryConnectionEstablishment = false
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
            let result: Result<Void, any Error>
            do {
                try await test(Client(http: http, standIns: standIns))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            try await http.shutdown()
            try result.get()
        }
    }

    /// - Parameter call: method and path, as in `POST /auth/login`.
    func call(
        _ backend: Backend, _ call: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        try await self.call(url: standIns.url(backend), call, body, token: token, headers: headers)
    }

    func control(_ call: String, _ body: JSONValue? = nil) async throws -> Reply {
        try await self.call(url: standIns.controlURL, call, body)
    }

    func raw(
        _ backend: Backend, _ call: String, _ body: String, headers: [String: String]
    ) async throws -> Reply {
        try await send(standIns.url(backend), call, Array(body.utf8), headers)
    }

    /// Ada's token.
    func signIn(_ backend: Backend, password: String = "Correct-horse1") async throws -> String {
        let reply = try await call(backend, backend.signIn, backend.credentials(password: password))
        guard reply.status == 200, let token = try reply.json[backend.tokenField]?.string else {
            throw Failure("no sign-in: \(reply.status)")
        }
        return token
    }

    private func call(
        url: String, _ call: String, _ body: JSONValue?, token: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        var headers = headers
        if let token { headers["authorization"] = "Bearer \(token)" }
        guard let body else { return try await send(url, call, nil, headers) }
        if headers["content-type"] == nil { headers["content-type"] = "application/json" }
        return try await send(url, call, Array(try JSONEncoder().encode(body)), headers)
    }

    private func send(
        _ url: String, _ call: String, _ body: [UInt8]?, _ headers: [String: String]
    ) async throws -> Reply {
        let words = call.split(separator: " ", maxSplits: 1).map(String.init)
        var request = HTTPClientRequest(url: url + words[1])
        request.method = HTTPMethod(rawValue: words[0])
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await http.execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        return Reply(
            status: Int(response.status.code), headers: response.headers, text: String(buffer: bytes))
    }
}

extension Backend {
    var signIn: String {
        switch self {
        case .awsLambda, .envelope, .appTemplate: "POST /auth/login"
        case .anonymousWall: "POST /api/v1/auth/login/password"
        case .forkInTheRoad: "POST /api/auth/login"
        }
    }

    func credentials(password: String) -> JSONValue {
        switch self {
        case .awsLambda: ["email": "ada@example.org", "password": .string(password), "authProvider": "email"]
        case .appTemplate: ["credentials": ["email": "ada@example.org", "password": .string(password)]]
        default: ["email": "ada@example.org", "password": .string(password)]
        }
    }

    var tokenField: String { self == .anonymousWall ? "accessToken" : "token" }

    /// A call that needs nothing but the token.
    var whoAmI: String? {
        switch self {
        case .awsLambda: "GET /auth/profile"
        case .forkInTheRoad: "GET /api/auth/me"
        case .appTemplate: "GET /users"
        case .envelope, .anonymousWall: nil
        }
    }

    /// The call that renews with the token.
    var refresh: String? {
        switch self {
        case .envelope, .appTemplate: "POST /auth/refresh"
        case .forkInTheRoad: "POST /api/auth/refresh"
        case .awsLambda, .anonymousWall: nil
        }
    }
}
