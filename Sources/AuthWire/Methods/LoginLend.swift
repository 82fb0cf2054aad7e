/// `login.lend`: asks the agent of a machine with a browser to send its user to the provider, for a sign-in of another agent.
public struct LoginLend: AgentMethod {
    public typealias Result = LoginLent
    public static let info = MethodInfo(
        "login.lend", .account, "Lends the browser of this machine to a sign-in on another one.", secrecy: .guarded)

    /// A SHA-256 hash in base64url.
    public static let challengeLength = 43
    /// Applies to ``nonce`` and ``comparison``, too. All are random, and made on the other machine.
    public static let longestState = 128
    /// As for a host name (hostname(7)).
    public static let longestHost = 64
    public static let mostScopes = 64
    /// About one in 33 million requests has the same.
    private static let codeLength = 5
    /// Without letters that look like a digit.
    private static let codeLetters = Array("23456789ABCDEFGHJKLMNPQRSTUVWXYZ")
    /// RFC 4648 §5.
    private static let base64url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// What the other machine calls itself.
    public var host = ""
    public var issuer: String?
    /// For a provider without an issuer.
    public var authorizationEndpoint: String?
    public var clientID = ""
    /// What the other agent requests.
    public var scopes: [String] = []
    /// For the verifier that the other agent keeps: S256 (RFC 7636 §4.2).
    public var codeChallenge: String?
    public var state: String?
    public var nonce: String?
    /// The thumbprint of the key that the tokens will be bound to (RFC 9449 §10).
    public var proofThumbprint: String?
    /// A device code is requested instead (RFC 8628).
    public var device = false
    /// Random, for the ``comparisonCode`` of a device code, which has no challenge.
    public var comparison: String?

    public init(blank: Blank) {}
    public init(
        host: String = "", issuer: String?, authorizationEndpoint: String? = nil, clientID: String, scopes: [String]
    ) {
        self.host = host
        self.issuer = issuer
        self.authorizationEndpoint = authorizationEndpoint
        self.clientID = clientID
        self.scopes = scopes
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("host", &host, .string, default: "")
        try visitor.optional("issuer", &issuer, .string)
        try visitor.optional("authorization_endpoint", &authorizationEndpoint, .string)
        try visitor.required("client_id", &clientID, .string)
        try visitor.optional("scopes", &scopes, .strings, default: [])
        try visitor.optional("code_challenge", &codeChallenge, .string)
        try visitor.optional("state", &state, .string)
        try visitor.optional("nonce", &nonce, .string)
        try visitor.optional("dpop_jkt", &proofThumbprint, .string)
        try visitor.optional("device", &device, .bool, default: false)
        try visitor.optional("comparison", &comparison, .string)
    }

    /// Shown by the terminal of the other machine and in the question to the user, so that the user knows which request the
    /// question is about. `nil` if there is nothing to make it of.
    public var comparisonCode: String? {
        guard let source = (codeChallenge ?? comparison)?.utf8.prefix(Self.codeLength), source.count == Self.codeLength
        else { return nil }
        // base64url has 64 letters, twice as many as these. Each is as frequent as any other, even in a hash.
        return String(
            source.map { Self.codeLetters[(Self.base64url.firstIndex(of: $0) ?? 0) % Self.codeLetters.count] })
    }

    /// For ``comparison``.
    public static func randomComparison() -> String {
        String(decoding: (0..<challengeLength).map { _ in base64url.randomElement() ?? 0 }, as: UTF8.self)
    }

    /// The challenge, state, nonce and thumbprint become parts of an address that a browser opens.
    public func validate() throws(AgentError) {
        let challenges = [("code_challenge", codeChallenge), ("dpop_jkt", proofThumbprint)]
        for case (let name, let text?) in challenges where !Self.isRandom(text, Self.challengeLength) {
            throw .invalidParams("params.\(name): expected \(Self.challengeLength) characters of base64url.")
        }
        for case (let name, let text?) in [("state", state), ("nonce", nonce), ("comparison", comparison)]
        where !Self.isRandom(text) || text.utf8.count > Self.longestState {
            throw .invalidParams("params.\(name): expected 1 to \(Self.longestState) characters of base64url.")
        }
        guard host.utf8.count <= Self.longestHost else {
            throw .invalidParams("params.host: expected at most \(Self.longestHost) bytes.")
        }
        guard scopes.count <= Self.mostScopes else {
            throw .invalidParams("params.scopes: expected at most \(Self.mostScopes).")
        }
        guard device == (codeChallenge == nil), device == (state == nil) else {
            throw .invalidParams("params: expected either device, or code_challenge and state.")
        }
        // An agent's request for a device code has none: the client that carries the request adds it.
        guard comparison == nil || comparisonCode != nil else { throw Self.needsComparison }
        guard issuer != nil || authorizationEndpoint != nil else {
            throw .invalidParams("params: expected issuer or authorization_endpoint.")
        }
    }

    /// For a request to lend a browser without a ``comparisonCode``.
    package static let needsComparison = AgentError.invalidParams(
        "params.comparison: expected at least \(codeLength) characters with device.")

    private static func isRandom(_ text: String, _ length: Int? = nil) -> Bool {
        !text.isEmpty && text.utf8.count == length ?? text.utf8.count && text.utf8.allSatisfy(base64url.contains)
    }
}
