/// Of `session.trust`.
public struct TrustResult: Sendable, Equatable {
    /// Where the session was signed in and its profile does not lead any more.
    public var former: [String]
    /// What the profile names now instead; empty if nothing has changed.
    public var origins: [String]
    /// The session's tokens may be sent to ``origins`` from here on; `trusted` on the wire.
    public var isTrusted: Bool
    public var status: SessionStatus

    public init(former: [String], origins: [String], isTrusted: Bool, status: SessionStatus) {
        self.former = former
        self.origins = origins
        self.isTrusted = isTrusted
        self.status = status
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        former = try members.required("former", .strings)
        origins = try members.required("origins", .strings)
        isTrusted = try members.required("trusted", .bool)
        status = try SessionStatus(try members.required("status", .any))
    }

    public var json: JSON {
        [
            "former": .strings(former), "origins": .strings(origins), "trusted": .bool(isTrusted),
            "status": status.json,
        ]
    }
}
