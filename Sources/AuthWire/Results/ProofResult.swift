/// Of `token.proof`: good for one request, and not for long.
public struct ProofResult: Sendable, Equatable, HoldsSecrets {
    /// The value of the header `DPoP`. Secret.
    public var proof: String
    public var session: SessionName

    public init(proof: String, session: SessionName) {
        self.proof = proof
        self.session = session
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        proof = try members.required("proof", .string)
        session = try members.required("session", .sessionName)
    }

    public var json: JSON { ["proof": .string(proof), "session": .string(session.text)] }
}
