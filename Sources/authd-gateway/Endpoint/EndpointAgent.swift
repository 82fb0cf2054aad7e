import AuthClient
import AuthGateway
import AuthModel
import AuthWire

/// What the endpoint asks the agent for. It keeps no token: the agent has the current one in memory.
struct EndpointAgent: Sendable {
    let client: AuthClient

    /// - Throws: if no agent answers.
    func check() async throws(FrontProblem) {
        do throws(ClientError) {
            _ = try await client.info(timeout: EndpointLimits.agentTime)
        } catch {
            throw FrontProblem(error, login: "")
        }
    }

    /// - Parameters:
    ///   - session: `nil`: the default one.
    ///   - purpose: for the audit log.
    func token(
        of session: SessionName?, scopes: [String]? = nil, audience: String? = nil, atLeast time: Duration,
        purpose: String
    ) async throws(FrontProblem) -> TokenResult {
        do throws(ClientError) {
            return try await client.call(
                TokenGet(
                    session: session, minValid: time, scopes: scopes, audience: audience, purpose: purpose,
                    timeout: EndpointLimits.agentTime),
                timeout: EndpointLimits.agentTime + Self.answerTime)
        } catch {
            throw await problem(error, session)
        }
    }

    /// - Throws: 401 even if the session only needs a sign-in: what was made from its tokens is not given out any more.
    func status(of session: SessionName?) async throws(FrontProblem) -> SessionStatus {
        let status: SessionStatus
        do throws(ClientError) {
            status = try await client.status(session: session, timeout: EndpointLimits.agentTime)
        } catch {
            throw await problem(error, session)
        }
        // A locked agent refuses tokens, so nothing that was made from them is returned either.
        guard status.lockedSince == nil else { throw FrontProblem(endpoint: .agentLocked, login: "") }
        guard status.state != .signedOut, status.state != .signInRequired else {
            let message = status.message ?? "The session '\(status.session)' needs a sign-in."
            throw FrontProblem(
                endpoint: AgentError(.signInRequired, message),
                login: CommandText.login(status.provider, session: status.session))
        }
        return status
    }

    /// What `authc stats` prints.
    func figures() async throws(FrontProblem) -> AgentFigures {
        do throws(ClientError) {
            let stats = try await client.call(AgentStatsGet())
            let store = try await client.info().store
            let sessions = try await readable { client throws(ClientError) in try await client.sessions() }
            let writes = try await readable { client throws(ClientError) in
                try await client.call(OutboxListGet(OutboxParams())).entries
            }
            return AgentFigures(stats: stats, store: store, sessions: sessions, writes: writes)
        } catch {
            throw await problem(error, nil)
        }
    }

    /// `nil` while the agent's store cannot be read.
    private func readable<Value>(
        _ value: (AuthClient) async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value? {
        do throws(ClientError) {
            return try await value(client)
        } catch {
            guard case .agent(let problem) = error,
                problem.kind == .keyringLocked || problem.kind == .keyringUnavailable
            else { throw error }
            return nil
        }
    }

    /// For the agent to answer that the time is over.
    private static let answerTime = Duration.seconds(2)

    private func problem(_ error: ClientError, _ session: SessionName?) async -> FrontProblem {
        guard case .agent(let problem) = error else { return FrontProblem(error, login: "") }
        let provider = try? await client.status(session: session).provider
        return FrontProblem(endpoint: problem, login: CommandText.login(provider, session: session))
    }
}
