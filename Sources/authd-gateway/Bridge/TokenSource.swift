import AuthClient
import AuthGateway
import AuthModel
import AuthWire

/// Asks the agent for the token of each request. It keeps none: the agent has the current one in memory.
struct TokenSource: Sendable {
    let target: BridgeTarget
    let client: AuthClient
    /// The session to use if several belong to the URL.
    let preferred: SessionName?

    func answer(to question: TokenQuestion) async -> TokenOutcome {
        do throws(ClientError) {
            return switch target.choice(from: try await client.sessions(), preferred: preferred) {
            case .none(let problem): .none(problem)
            case .failed(let problem): .failed(problem)
            case .session(let status): await answer(to: question, with: status)
            }
        } catch {
            switch error {
            case .noAgent:
                return target.answer(without: BridgeProblem(.notSignedIn, "There is no token: \(error)."))
            case .agent(let error): return target.answer(without: BridgeProblem(error))
            default: return .failed(problem(error))
            }
        }
    }

    private func answer(to question: TokenQuestion, with status: SessionStatus) async -> TokenOutcome {
        do throws(ClientError) {
            // If nothing can renew it, one server's refusal must not end the session.
            if let refused = question.refused, refused.session == status.session, status.renews {
                try await client.reject(accessToken: refused.secret.reveal(), session: status.session)
            }
            let token = try await client.token(session: status.session, origin: target.url)
            let isBound = token.tokenType.lowercased() == "dpop"
            let proof =
                isBound
                ? try await client.proof(
                    method: question.method, url: question.url, nonce: question.nonce, session: status.session
                ).proof
                : nil
            return .token(
                BridgeToken(
                    Secret(token.accessToken), isBound: isBound, proof: proof.map(Secret.init),
                    session: status.session, provider: status.provider, scopes: status.scopes ?? []))
        } catch {
            if case .agent(let error) = error { return .failed(target.problem(error, of: status)) }
            return .failed(problem(error))
        }
    }

    private func problem(_ error: ClientError) -> BridgeProblem {
        switch error {
        case .agent(let error): BridgeProblem(error)
        case .timedOut: BridgeProblem(.timeout, "The agent did not answer in time.")
        default: BridgeProblem(.internal_, "The agent could not be asked for a token: \(error).")
        }
    }
}
