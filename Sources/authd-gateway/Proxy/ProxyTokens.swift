import AuthClient
import AuthGateway
import AuthModel
import AuthWire
import Synchronization

/// The session of a proxy: its server, and a token for each request. No token is kept: the agent has the current one in memory.
final class ProxyTokens: Sendable {
    private struct Known: Sendable {
        let session: SessionName
        let target: ProxyTarget
        let place: TokenPlace
        /// Whether anything renews the session's token.
        var renews: Bool
    }

    private struct State {
        var session: SessionName?
        var provider: String?
        var known: Known?
        /// The server's newest one (RFC 9449 §8.2).
        var nonce: String?
    }

    private let client: AuthClient
    private let server: ProxyTarget?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - session: `nil`: the default one. It stays the same for the proxy's life.
    ///   - server: `nil`: that of the session's environment.
    init(client: AuthClient, session: SessionName?, server: ProxyTarget?) {
        self.client = client
        self.server = server
        state = Mutex(State(session: session))
    }

    /// The name of the session, and its server.
    func target() async throws(ClientError) -> (session: SessionName, target: ProxyTarget) {
        let known = try await resolved()
        return (known.session, known.target)
    }

    /// - Parameter url: where the token is sent. The agent checks that it belongs there.
    func token(method: String, target: String) async throws(FrontProblem) -> (token: ProxyToken, target: ProxyTarget) {
        do throws(ClientError) {
            let known = try await resolved()
            let token = try await client.token(session: known.session, origin: known.target.origin.text)
            let isBound = token.tokenType.lowercased() == "dpop"
            var proof: Secret?
            if isBound {
                // Without the query (RFC 9449 §4.2).
                let url = known.target.url(for: String(target.prefix { $0 != "?" }))
                let nonce = state.withLock { $0.nonce }
                proof = Secret(
                    try await client.proof(method: method, url: url, nonce: nonce, session: known.session).proof)
            }
            let secret = Secret(token.accessToken)
            let found = ProxyToken(
                secret, isBound: isBound, proof: proof, place: known.place, isRenewable: known.renews)
            return (found, known.target)
        } catch {
            // The profile may lead elsewhere now.
            state.withLock { $0.known = nil }
            throw problem(error)
        }
    }

    /// Reports a 401. If nothing can renew the token, one server's refusal must not end the session.
    func reject(_ token: ProxyToken) async {
        guard let session = state.withLock({ $0.session }), let status = try? await client.status(session: session)
        else { return }
        // A later sign-in may have changed it.
        state.withLock { $0.known?.renews = status.renews }
        guard status.renews else { return }
        _ = try? await client.reject(accessToken: token.secret.reveal(), session: session)
    }

    func learn(nonce: String?) {
        guard let nonce else { return }
        state.withLock { $0.nonce = nonce }
    }

    /// What a client gets instead of a response.
    func problem(_ error: ClientError) -> FrontProblem {
        let (session, provider) = state.withLock { ($0.session, $0.provider) }
        return FrontProblem(error, login: CommandText.login(provider, session: session))
    }

    private func resolved() async throws(ClientError) -> Known {
        let (session, known) = state.withLock { ($0.session, $0.known) }
        if let known { return known }
        let status = try await client.status(session: session)
        state.withLock { $0.provider = status.provider }
        let found = try await describe(status)
        state.withLock { ($0.session, $0.known) = (found.session, found) }
        return found
    }

    private func describe(_ status: SessionStatus) async throws(ClientError) -> Known {
        // Signed in to a URL.
        if let resource = try? ProxyTarget(status.provider) {
            return Known(
                session: status.session, target: server ?? resource, place: .standard, renews: status.renews)
        }
        let detail = try await client.call(ProviderShow(ProviderParams(provider: status.provider)))
        do throws(AgentError) {
            let place = try TokenPlace(detail.tokenPlace)
            if let server {
                return Known(session: status.session, target: server, place: place, renews: status.renews)
            }
            let environment =
                detail.environments.first { $0.name == status.environment }
                ?? detail.environments.first { $0.isDefault } ?? detail.environments.first
            guard let environment else {
                throw AgentError(
                    .validation, "\(detail.title) has no base URL. Name the server with --to URL.")
            }
            return Known(
                session: status.session, target: try ProxyTarget(environment.url), place: place, renews: status.renews)
        } catch {
            throw .agent(error)
        }
    }
}
