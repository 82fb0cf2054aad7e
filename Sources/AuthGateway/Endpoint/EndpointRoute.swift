import AuthModel
package import AuthWire

/// What a request at the endpoint is about. The metadata view has its own port and its own paths (``MetadataRoute``).
package enum EndpointRoute: Sendable, Equatable {
    /// `GET /v1/token?session=NAME`
    case token(session: SessionName?)
    /// `GET /v1/aws`
    case aws
    /// `GET /metrics`
    case metrics

    /// - Throws: 404, 405, or 400 for a parameter that it does not have: the program would not get what it asked for.
    package init(_ request: FrontRequest) throws(FrontProblem) {
        guard let view = Self.view(of: request) else {
            throw FrontProblem(404, .notFound, "There is nothing here. There are /v1/token, /v1/aws and /metrics.")
        }
        guard request.head.method == "GET" else { throw FrontProblem(405, .unsupported, "Use GET.") }
        let query = try request.query
        switch view {
        case .token:
            guard query.allSatisfy({ $0.name == "session" }), query.count <= 1 else {
                throw FrontProblem(400, .validation, "The only parameter of /v1/token is one session.")
            }
            do throws(AgentError) {
                self = .token(session: try query["session"].map { text throws(AgentError) in try SessionName(text) })
            } catch {
                throw FrontProblem(400, .validation, error.message)
            }
        case .aws: self = .aws
        case .metrics, .gce: self = .metrics
        }
    }

    package var view: EndpointClient.View {
        switch self {
        case .token: .token
        case .aws: .aws
        case .metrics: .metrics
        }
    }

    /// The view that the path belongs to, even of a request that is refused; `nil`: none.
    package static func view(of request: FrontRequest) -> EndpointClient.View? {
        switch request.path {
        case "/v1/token": .token
        case "/v1/aws": .aws
        case "/metrics": .metrics
        default: nil
        }
    }

    /// The session that a program gets a token of.
    /// - Throws: 403 if the program may not use that view or that session.
    package func session(for client: EndpointClient, named name: ClientName) throws(FrontProblem) -> SessionName? {
        guard client.view == view else {
            throw FrontProblem(
                403, .denied, "The key of '\(name)' is for the view \(client.view.rawValue), not for \(view.rawValue).")
        }
        guard case .token(let session?) = self else { return client.sessions.first }
        guard client.sessions.contains(session) else {
            throw FrontProblem(403, .denied, "The key of '\(name)' is not for the session '\(session)'.")
        }
        return session
    }
}

extension FrontRequest {
    /// The parameters of its target.
    /// - Throws: 400 if they are not encoded as a form is, or one is too long.
    var query: [FormField] {
        get throws(FrontProblem) {
            let text = Substring(target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst())
            guard let fields = Form.decode(String(text)),
                fields.allSatisfy({ $0.value.utf8.count <= EndpointLimits.parameterBytes })
            else { throw FrontProblem(400, .validation, "The query of the request cannot be read.") }
            return fields
        }
    }
}
