import AuthFront
import AuthGateway
import AuthModel
import AuthWire

/// Answers programs that have a key.
struct EndpointService: Sendable {
    let clients: EndpointClients
    let agent: EndpointAgent
    let exchange: CredentialExchange

    func respond(to request: FrontRequest) async -> FrontResponse {
        do throws(FrontProblem) {
            return FrontResponse(try await reply(to: request))
        } catch {
            return FrontResponse(EndpointReply(error, for: EndpointRoute.view(of: request) ?? .token))
        }
    }

    private func reply(to request: FrontRequest) async throws(FrontProblem) -> EndpointReply {
        let route = try EndpointRoute(request)
        let (name, client) = try await clients.client(of: request.head)
        let session = try route.session(for: client, named: name)
        switch route {
        case .token:
            let token = try await agent.token(
                of: session, scopes: client.scopes, audience: client.audience, atLeast: EndpointLimits.leastTime,
                purpose: "http \(name)")
            return EndpointReply(json: token.json)
        case .aws:
            let identity = try identity(of: client, named: name, session)
            let credentials = try await exchange.credentials(for: identity)
            return EndpointReply(json: credentials.containerJSON(role: identity.role))
        case .metrics: return EndpointReply(metrics: try await agent.figures())
        }
    }

    private func identity(
        of client: EndpointClient, named name: ClientName, _ session: SessionName?
    ) throws(FrontProblem) -> WebIdentity {
        do throws(AgentError) {
            return try WebIdentity(
                session: session, scopes: client.scopes, audience: client.audience, role: client.role ?? "",
                service: client.sts ?? EndpointClient.usualSTS, name: name.text)
        } catch {
            throw FrontProblem(400, .validation, error.message)
        }
    }
}

extension FrontResponse {
    init(_ reply: EndpointReply) {
        self.init(status: reply.status, fields: reply.fields, body: reply.body)
    }
}
