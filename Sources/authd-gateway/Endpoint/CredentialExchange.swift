import AuthConcurrency
import AuthGateway
import AuthHTTP
import AuthModel
import AuthWire
import Synchronization

/// Exchanges the tokens of sessions for credentials of roles at AWS, and keeps these in memory.
final class CredentialExchange: Sendable {
    /// Another sign-in may be another account.
    private struct Key: Hashable {
        let identity: WebIdentity
        let signedInAt: Double?
    }

    private struct Entry {
        var cache = CredentialCache()
        var waiting: [OneShot<Result<AWSCredentials, FrontProblem>>] = []

        var isBusy: Bool { cache.isExchanging || !waiting.isEmpty }
    }

    private enum Step {
        case done(Result<AWSCredentials, FrontProblem>)
        case exchange
        case wait(OneShot<Result<AWSCredentials, FrontProblem>>)
    }

    private let agent: EndpointAgent
    private let transport: AsyncHTTPTransport
    private let clock = GatewayClock()
    private let entries = Mutex<[Key: Entry]>([:])

    init(agent: EndpointAgent, transport: AsyncHTTPTransport) {
        self.agent = agent
        self.transport = transport
    }

    /// Credentials that are valid now. One exchange is in progress for any number of callers.
    func credentials(for identity: WebIdentity) async throws(FrontProblem) -> AWSCredentials {
        let status = try await agent.status(of: identity.session)
        let key = Key(identity: identity, signedInAt: status.signedInAt)
        switch step(key) {
        case .done(let result): return try result.get()
        case .exchange: return try end(await exchange(identity), key).get()
        case .wait(let end):
            guard let result = await end.value() else { throw FrontProblem(503, .busy, "The endpoint ends.") }
            return try result.get()
        }
    }

    private func step(_ key: Key) -> Step {
        let now = clock.now()
        return entries.withLock { entries in
            // What the program had with another role or sign-in is not needed any more.
            entries = entries.filter { $0.key == key || $0.key.identity.name != key.identity.name || $0.value.isBusy }
            switch entries[key, default: Entry()].cache.request(now: now) {
            case .use(let credentials): return .done(.success(credentials))
            case .refuse(let problem): return .done(.failure(problem))
            case .exchange: return .exchange
            case .wait:
                let end = OneShot<Result<AWSCredentials, FrontProblem>>()
                entries[key, default: Entry()].waiting.append(end)
                return .wait(end)
            }
        }
    }

    private func end(_ result: Result<AWSCredentials, FrontProblem>, _ key: Key) -> Result<AWSCredentials, FrontProblem>
    {
        let now = clock.now()
        let (result, waiting) = entries.withLock { entries in
            var entry = entries[key, default: Entry()]
            defer { entries[key] = Entry(cache: entry.cache) }
            return (entry.cache.end(result, now: now), entry.waiting)
        }
        for wait in waiting { wait.send(result) }
        return result
    }

    private func exchange(_ identity: WebIdentity) async -> Result<AWSCredentials, FrontProblem> {
        do throws(FrontProblem) {
            let token = try await agent.token(
                of: identity.session, scopes: identity.scopes, audience: identity.audience,
                atLeast: EndpointLimits.leastTime, purpose: "\(identity.name) for \(identity.role)")
            try token.checkIsBearer()
            let response = try await send(identity.request(with: Secret(token.accessToken)))
            return .success(try WebIdentity.credentials(response))
        } catch {
            return .failure(error)
        }
    }

    private func send(_ request: HTTPRequest) async throws(FrontProblem) -> HTTPResponse {
        do throws(TransportError) {
            return try await transport.send(request)
        } catch {
            throw FrontProblem(error)
        }
    }
}
