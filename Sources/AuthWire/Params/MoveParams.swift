/// Of `session.export`.
public struct ExportParams: WireObject, HoldsSecrets {
    /// In characters. Whoever gets the file can try passphrases for years, without this machine.
    public static let shortestPassphrase = 12

    /// `nil`: all of them.
    public var session: SessionName?
    /// What seals them; `nil`: nothing does, and the caller has that done by another program at once. Secret.
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

/// Of `session.import`: what `session.export` gave.
public struct ImportParams: WireObject, HoldsSecrets {
    public var bytes: [UInt8] = []
    /// What has sealed them; `nil`: nothing, another program has opened them. Secret.
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
