/// `session.export`.
public struct SessionExport: AgentMethod, HoldsSecrets {
    public typealias Result = ExportResult
    public static let name = "session.export"
    public static let summary = "Exports sessions, sealed with a passphrase if one is given."
    public static let access = AccessClass.admin
    public static let secrecy = Secrecy.ownAgentOnly
    public static let isStrict = true

    /// In characters. An attacker with the file can try passphrases for years, without this machine.
    public static let shortestPassphrase = 12

    /// `nil`: all of them.
    public var session: SessionName?
    /// Seals them; `nil`: they are not sealed, and the caller has another program seal them at once. Secret.
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

/// `session.import`: what `session.export` gave.
public struct SessionImport: AgentMethod, HoldsSecrets {
    public typealias Result = ImportResult
    public static let name = "session.import"
    public static let summary = "Imports what an export returned."
    public static let access = AccessClass.admin
    public static let secrecy = Secrecy.ownAgentOnly

    public var bytes: [UInt8] = []
    /// They were sealed with it; `nil`: they are not sealed, another program has opened them. Secret.
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

/// `session.trust`.
public struct SessionTrust: AgentMethod {
    public typealias Result = TrustResult
    public static let name = "session.trust"
    public static let summary = "Lists the origins that a changed profile names for a session, or accepts them."
    public static let access = AccessClass.admin
    public static let isStrict = true

    public var session: SessionName?
    /// The origins that the user accepts, as the result without them lists them; `nil`: nothing is changed.
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
