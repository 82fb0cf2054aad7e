import AuthFront
import AuthGateway
import AuthModel
import AuthWire

/// Answers one program as the metadata server of Google Compute Engine does, on a port that is the program's own.
struct MetadataService: Sendable {
    let name: ClientName
    /// The entry may have another one by now.
    let port: Int
    let clients: EndpointClients
    let agent: EndpointAgent

    func respond(to request: FrontRequest) async -> FrontResponse {
        do throws(FrontProblem) {
            return FrontResponse(try await reply(to: request))
        } catch {
            return FrontResponse(EndpointReply(metadata: error))
        }
    }

    private func reply(to request: FrontRequest) async throws(FrontProblem) -> EndpointReply {
        let route = try MetadataRoute(request)
        let client = try await clients.client(named: name)
        guard client.view == .gce, client.port == port, let session = client.sessions.first else {
            throw FrontProblem(403, .denied, "The program '\(name)' has no metadata server any more.")
        }
        if route.item == .ping, let reply = EndpointReply.metadata(.ping, email: "", scopes: []) { return reply }
        let status = try await agent.status(of: session)
        let email = status.user?.email ?? session.text
        try route.check(email: email)
        let scopes = client.scopes ?? status.scopes ?? []
        if let reply = EndpointReply.metadata(route.item, email: email, scopes: scopes) { return reply }
        if case .identity(let audience) = route.item { return try await identity(audience, client, session) }
        return try EndpointReply.metadata(token: try await token(client, session, audience: client.audience))
    }

    private func identity(
        _ audience: String, _ client: EndpointClient, _ session: SessionName
    ) async throws(FrontProblem) -> EndpointReply {
        guard client.audience == audience else {
            throw FrontProblem(403, .denied, "The program '\(name)' gets no token for that audience.")
        }
        return try EndpointReply.metadata(identity: try await token(client, session, audience: audience))
    }

    /// Scopes of the request do not count, as on Compute Engine: SDKs name some by themselves.
    private func token(
        _ client: EndpointClient, _ session: SessionName, audience: String?
    ) async throws(FrontProblem) -> TokenResult {
        try await agent.token(
            of: session, scopes: client.scopes, audience: audience, atLeast: EndpointLimits.leastMetadataTime,
            purpose: "http \(name)")
    }
}
