/// The result of `token.proof`: valid for one request, and for a short time.
public struct ProofResult: WireObject, HoldsSecrets {
    /// The value of the header `DPoP`. Secret.
    public var proof = ""
    public var session = SessionName.blank

    public init(blank: Blank) {}
    public init(proof: String, session: SessionName) {
        self.proof = proof
        self.session = session
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("proof", &proof, .string)
        try visitor.required("session", &session, .sessionName)
    }
}
