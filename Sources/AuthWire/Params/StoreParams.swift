/// Of `store.rekey`: what the new keys are sealed with; neither: what they are sealed with now.
public struct RekeyParams: WireObject, HoldsSecrets {
    /// A new one. Secret.
    public var passphrase: String?
    /// What the new key is made of: the bytes of the file that the agent will find it in. Secret. Not a path: the agent
    /// opens no file for a client.
    public var key: [UInt8]?

    public init(blank: Blank) {}

    public init(passphrase: String? = nil, key: [UInt8]? = nil) {
        self.passphrase = passphrase
        self.key = key
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.optional("passphrase", &passphrase, .string)
        try visitor.optional("key_base64", &key, .base64)
    }
}
