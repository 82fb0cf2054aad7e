import AuthModel
package import AuthWire

/// A response of the endpoint. It may contain a token, and is not kept.
package struct EndpointReply: Sendable {
    package let status: Int
    package var fields: [(name: String, value: String)]
    package let body: [UInt8]

    package init(_ status: Int, type: String, body: [UInt8]) {
        self.status = status
        fields = [("Content-Type", type), ("Cache-Control", "no-store")]
        self.body = body
    }

    package init(_ status: Int = 200, json: JSON) {
        self.init(status, type: "application/json", body: json.serialized() + [0x0A])
    }

    /// OpenMetrics 1.0, as `authc stats` prints it.
    package init(metrics: AgentFigures) {
        self.init(
            200, type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
            body: Array((metrics.metrics(.openmetrics) + "\n").utf8))
    }

    /// An error, in the form that the programs of a view understand.
    package init(_ problem: FrontProblem, for view: EndpointClient.View) {
        switch view {
        case .token, .metrics:
            self.init(problem.status, type: "application/problem+json", body: problem.body)
        case .aws: self.init(problem.status, json: ["Code": .string(problem.code), "Message": .string(problem.detail)])
        case .gce:
            self.init(
                problem.status,
                json: ["error": .string(problem.code), "error_description": .string(problem.detail)])
        }
        if let retryAfter = problem.retryAfter {
            fields.append(("Retry-After", "\(Int(retryAfter.seconds.rounded(.up)))"))
        }
        if problem.status == 405 { fields.append(("Allow", "GET")) }
    }
}

extension FrontProblem {
    /// One word for programs: that of the service behind, if it has one.
    fileprivate var code: String { serviceCode ?? kind.rawValue }

    /// As ``init(_:login:)``, but nothing that stays wrong is a 5xx: SDKs repeat a request after each of them.
    package init(endpoint error: AgentError, login: String) {
        let problem = FrontProblem(error, login: login)
        let isLasting = problem.status == 500 && problem.kind != .internal_
        self = isLasting ? FrontProblem(400, problem.kind, problem.detail) : problem
    }
}
