/// The result of `login.lend`, with which the other agent continues its sign-in. It has either a code, which needs the
/// verifier, or a device code.
public struct LoginLent: WireObject, HoldsSecrets {
    /// The client that the provider has shown the user.
    public var clientID = ""
    /// What was requested: of the scopes that the other agent wants, those that it may have.
    public var scopes: [String] = []
    /// The address of the page that the browser came back to.
    public var redirectURI: String?
    /// What the browser brought there: code, state and issuer. Secret.
    public var query: String?
    /// The response of the provider that begins a device grant (RFC 8628 §3.2). Secret.
    public var device: JSON?

    public init(blank: Blank) {}
    public init(
        clientID: String, scopes: [String], redirectURI: String? = nil, query: String? = nil, device: JSON? = nil
    ) {
        self.clientID = clientID
        self.scopes = scopes
        self.redirectURI = redirectURI
        self.query = query
        self.device = device
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("client_id", &clientID, .string)
        try visitor.required("scopes", &scopes, .strings)
        try visitor.optional("redirect_uri", &redirectURI, .string)
        try visitor.optional("query", &query, .string)
        try visitor.optional("device", &device, .any)
    }
}
