public struct SessionExport: AgentMethod, HoldsSecrets {
    public typealias Result = ExportResult
    public static let info = MethodInfo(
        "session.export", .admin, "Exports sessions, sealed with a passphrase if one is given.", secrecy: .ownAgentOnly,
        isStrict: true)

    /// In characters. An attacker with the file can try passphrases offline for years.
    public static let shortestPassphrase = 12

    /// `nil`: all of them.
    public var session: SessionName?
    /// Seals the bundle; `nil`: it is not sealed, and the caller must seal it at once. Secret.
    public var passphrase: String?

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, passphrase: String?) {
        self.session = session
        self.passphrase = passphrase
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("passphrase", &passphrase, .string)
    }
}

public struct SessionImport: AgentMethod, HoldsSecrets {
    public typealias Result = ImportResult
    public static let info = MethodInfo(
        "session.import", .admin, "Imports what an export returned.", secrecy: .ownAgentOnly)

    public var bytes: [UInt8] = []
    /// Opens the bundle; `nil`: it is not sealed. Secret.
    public var passphrase: String?

    public init(blank: Blank) {}
    public init(bytes: [UInt8], passphrase: String? = nil) {
        self.bytes = bytes
        self.passphrase = passphrase
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("parcel_base64", &bytes, .base64)
        try visitor.optional("passphrase", &passphrase, .string)
    }
}

public struct SessionTrust: AgentMethod {
    public typealias Result = TrustResult
    public static let info = MethodInfo(
        "session.trust", .admin, "Lists the origins that a changed profile names for a session, or accepts them.",
        isStrict: true)

    public var session: SessionName?
    /// The origins that the user accepts, as the result lists them; `nil`: nothing changes.
    public var origins: [String]?

    public init(blank: Blank) {}
    public init(session: SessionName? = nil, origins: [String]? = nil) {
        self.session = session
        self.origins = origins
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("session", &session, .sessionName)
        try visitor.optional("origins", &origins, .strings)
    }
}
