package import AuthModel
package import AuthWire

/// Finds the metadata of a protected resource (RFC 9728 §3, §5): decides what is requested next, and reads the responses.
///
/// Invariant: nothing that it sends has credentials, and nothing is sent after an error.
package struct ResourceDiscovery: Sendable {
    package enum Next: Sendable {
        case send(HTTPRequest)
        /// - Parameter scopes: of the challenge, else of the metadata; empty if neither names any.
        case found(ResourceMetadata, scopes: [String])
    }

    private enum Stage {
        case new
        case asking(method: String)
        /// The metadata at this address is requested.
        case reading(String)
    }

    /// A server that answers each request for metadata with a challenge that names another address never ends.
    package static let maxChallenges = 5
    /// For each request. The user waits.
    package static let timeout = Duration.seconds(15)
    /// A server with these statuses may accept only POST.
    private static let asksForOtherMethod: Set<Int> = [400, 404, 405, 406, 415]

    private let url: ResourceURL
    private var stage = Stage.new
    /// What the resource itself has answered.
    private var status: Int?
    private var scopes: [String]?
    /// Where metadata may be, and was not requested yet.
    private var places: [String]
    private var challenges = 0
    /// What was wrong with each address.
    private var problems: [String] = []
    /// Whether any of them had a document that cannot be used.
    private var isBroken = false

    package init(_ url: ResourceURL) {
        self.url = url
        places = url.metadataPlaces
    }

    /// - Parameter reply: of the last request; `nil` at first.
    package mutating func next(_ reply: Result<HTTPResponse, AgentError>?) throws(AgentError) -> Next {
        switch (stage, reply) {
        case (.asking(let method), let reply?): return try asked(method, reply)
        case (.reading(let place), let reply?): return try read(place, reply)
        default:
            stage = .asking(method: "GET")
            return .send(request("GET", url.text + url.query))
        }
    }

    // MARK: The resource

    private mutating func asked(
        _ method: String, _ result: Result<HTTPResponse, AgentError>
    ) throws(AgentError) -> Next {
        switch result {
        case .failure(let error) where error.cause == "too_large": break
        case .failure(var error):
            if error.cause == "redirected" {
                error.message =
                    "\(url) leads to another origin. \(error.message) Sign in to the new URL, if you trust it."
            }
            throw error
        case .success(let reply):
            status = reply.status
            guard reply.status < 500 else { throw temporary(reply) }
            if let challenge = TokenChallenge(reply) {
                scopes = challenge.scopes
                if let place = challenge.resourceMetadata { try follow(place) }
            } else if method == "GET", Self.asksForOtherMethod.contains(reply.status) {
                stage = .asking(method: "POST")
                return .send(initialize)
            }
        }
        return try nextPlace()
    }

    /// What an MCP client sends first.
    private var initialize: HTTPRequest {
        var request = request("POST", url.text + url.query)
        request.headers.append(HTTPField("Content-Type", "application/json"))
        let params: JSON = [
            "protocolVersion": "2025-06-18", "capabilities": [:],
            "clientInfo": ["name": "authd", "version": .string(Release.version)],
        ]
        let call: JSON = ["jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params]
        request.body = Secret(bytes: call.serialized())
        return request
    }

    // MARK: Its metadata

    /// A challenge names an address, which is requested next.
    private mutating func follow(_ place: String) throws(AgentError) {
        challenges += 1
        guard challenges <= Self.maxChallenges else {
            throw AgentError(
                .badReply,
                "\(url) answers each of \(Self.maxChallenges) requests for its metadata with another challenge. authd stops "
                    + "there.", cause: "challenge_loop", retryable: false)
        }
        guard OAuthServer.mayName(place, of: url.text, mayBeInsecure: false) else {
            throw AgentError(
                .badReply,
                "\(url) names \(place) as the address of its metadata, which must be an https address on another machine, "
                    + "like the resource. authd sends nothing there.", cause: "resource_metadata", retryable: false)
        }
        places.removeAll { $0 == place }
        places.insert(place, at: 0)
    }

    private mutating func nextPlace() throws(AgentError) -> Next {
        guard !places.isEmpty else { throw nothingFound }
        let place = places.removeFirst()
        stage = .reading(place)
        return .send(request("GET", place))
    }

    private mutating func read(
        _ place: String, _ result: Result<HTTPResponse, AgentError>
    ) throws(AgentError) -> Next {
        let reply: HTTPResponse
        do throws(AgentError) {
            reply = try result.get()
        } catch {
            guard error.kind == .badReply else { throw error }
            return try skip(place, error.message, isBroken: true)
        }
        guard reply.status < 500, reply.status != 429 else { throw temporary(reply) }
        if reply.status == 401, let other = TokenChallenge(reply)?.resourceMetadata {
            try follow(other)
            return try nextPlace()
        }
        guard reply.status == 200 else { return try skip(place, "HTTP \(reply.status)", isBroken: false) }
        switch ResponseBody(reply) {
        case .page: return try skip(place, "it is an HTML page", isBroken: true)
        case .json(.object(let object)):
            do throws(MetadataError) {
                let metadata = try ResourceMetadata(.object(object), of: url)
                return .found(metadata, scopes: scopes ?? metadata.scopes ?? [])
            } catch {
                // It is the resource's own document, so another address would not have a better one.
                throw AgentError(
                    .badReply, "The metadata of \(url) cannot be used: \(error.reason) (\(place)).",
                    cause: "resource_metadata", retryable: false)
            }
        default: return try skip(place, "it is not a JSON object", isBroken: true)
        }
    }

    private mutating func skip(_ place: String, _ problem: String, isBroken: Bool) throws(AgentError) -> Next {
        problems.append("\(place): \(problem)")
        self.isBroken = self.isBroken || isBroken
        return try nextPlace()
    }

    private var nothingFound: AgentError {
        let answer = status.map { " (HTTP \($0))" } ?? ""
        let message =
            status.map { (200..<300).contains($0) } == true
            ? "\(url) answers without a sign-in\(answer), and does not name an authorization server (RFC 9728)."
            : "\(url) does not say where to sign in\(answer): there is no usable metadata (RFC 9728)."
        return AgentError(
            isBroken ? .badReply : .unsupported,
            message + " Check the URL. If its maker documents the sign-in, write a profile.",
            cause: "no_resource_metadata", httpStatus: status, retryable: false, details: problems)
    }

    private func temporary(_ reply: HTTPResponse) -> AgentError {
        AgentError(
            reply.status == 429 ? .rateLimited : .providerError,
            "\(url.origin) has a temporary failure; try again later.", httpStatus: reply.status,
            retryAfter: RetryAfter.read(reply, sentAt: nil))
    }

    private func request(_ method: String, _ url: String) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, url: url, headers: [HTTPField("Accept", "application/json, text/event-stream")])
        request.limit = Self.timeout
        return request
    }
}
