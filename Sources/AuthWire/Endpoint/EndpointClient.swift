/// What one program may have from the local HTTP endpoint (Docs/decisions/http-endpoint.md). Its key is stored apart from it.
package struct EndpointClient: WireObject {
    /// The form in which a program gets it. A program has one.
    package enum View: String, CaseIterable, Sendable {
        /// The token, as `token.get` returns it.
        case token
        /// Credentials of a role, in the format of the container credentials of AWS.
        case aws
        /// The token, in the format of the metadata server of Google Compute Engine.
        case gce
        /// The agent's statistics, without any token.
        case metrics
    }

    /// More are a mistake.
    package static let mostSessions = 32
    /// The service of AWS for all regions.
    package static let usualSTS = "https://sts.amazonaws.com"

    package var view = View.token
    /// The first one is for requests that name none.
    package var sessions: [SessionName] = []
    /// What the token is for, if it is not the session's own.
    package var scopes: [String]?
    package var audience: String?
    /// For `aws`: the ARN of the role.
    package var role: String?
    /// For `aws`: the URL of the Security Token Service.
    package var sts: String?
    /// For `gce`: the port of this program on 127.0.0.1.
    package var port: Int?

    package init(blank: Blank) {}
    package init(
        view: View, sessions: [SessionName] = [], scopes: [String]? = nil, audience: String? = nil,
        role: String? = nil, sts: String? = nil, port: Int? = nil
    ) {
        self.view = view
        self.sessions = sessions
        self.scopes = scopes
        self.audience = audience
        self.role = role
        self.sts = sts
        self.port = port
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("view", &view, .word)
        try visitor.written("sessions", &sessions, .sessionNames)
        try visitor.optional("scopes", &scopes, .strings)
        try visitor.optional("audience", &audience, .string)
        try visitor.optional("role", &role, .string)
        try visitor.optional("sts", &sts, .string)
        try visitor.optional("port", &port, .integer)
    }

    /// The message of the error is for the user: it names options of `authc http add`.
    package func validate() throws(AgentError) {
        guard isSessionCountValid else { throw Self.refused(sessionRule) }
        guard view != .metrics || (scopes == nil && audience == nil) else {
            throw Self.refused("metrics have no token: leave out --scope and --audience")
        }
        guard (role != nil) == (view == .aws) else {
            throw Self.refused(view == .aws ? "the view aws needs --role" : "only the view aws has a --role")
        }
        guard role.map({ $0.hasPrefix("arn:") && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }) ?? true else {
            throw Self.refused("--role is not an ARN, such as arn:aws:iam::123456789012:role/reader")
        }
        guard sts == nil || view == .aws else { throw Self.refused("only the view aws has an --sts") }
        guard sts.map(ServiceURL.isUsable) ?? true else {
            throw Self.refused(
                "--sts is not the URL of a Security Token Service: expected an https URL; http is allowed only for this machine"
            )
        }
        guard (port != nil) == (view == .gce) else {
            throw Self.refused(view == .gce ? "the view gce needs its own --port" : "only the view gce has a --port")
        }
        guard port.map({ (1...65535).contains($0) }) ?? true else { throw Self.refused("--port is not 1 to 65535") }
    }

    private var isSessionCountValid: Bool {
        switch view {
        case .token: (1...Self.mostSessions).contains(sessions.count)
        case .aws, .gce: sessions.count == 1
        case .metrics: sessions.isEmpty
        }
    }

    private var sessionRule: String {
        switch view {
        case .token: "the view token needs 1 to \(Self.mostSessions) sessions: name them with -s"
        case .aws, .gce: "the view \(view.rawValue) needs one session: name it with -s"
        case .metrics: "metrics are about all sessions: leave out -s"
        }
    }

    private static func refused(_ reason: String) -> AgentError { AgentError(.validation, reason) }
}
