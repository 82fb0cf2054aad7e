/// Of `store.migrate`.
public struct MigrateParams: Sendable, Equatable, HoldsSecrets {
    public var to: StoreKind
    /// Of the store that they are moved to, where it has one. Secret.
    public var passphrase: String?

    public init(to: StoreKind, passphrase: String? = nil) {
        self.to = to
        self.passphrase = passphrase
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        to = try members.required("to", .word)
        passphrase = try members.optional("passphrase", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["to": .string(to.rawValue)]
        object["passphrase"] = passphrase.map(JSON.string)
        return .object(object)
    }
}

/// Of `session.export`.
public struct ExportParams: Sendable, Equatable, HoldsSecrets {
    /// In characters. Whoever gets the file can try passphrases for years, without this machine.
    public static let shortestPassphrase = 12

    /// `nil`: all of them.
    public var session: SessionName?
    /// What seals them; `nil`: nothing does, and the caller has that done by another program at once. Secret.
    public var passphrase: String?

    public init(session: SessionName? = nil, passphrase: String?) {
        self.session = session
        self.passphrase = passphrase
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        session = try members.optional("session", .sessionName)
        passphrase = try members.optional("passphrase", .string)
    }

    public var json: JSON {
        var object = JSONObject()
        object["passphrase"] = passphrase.map(JSON.string)
        object["session"] = session.map { .string($0.text) }
        return .object(object)
    }
}

/// Of `session.import`: what `session.export` gave.
public struct ImportParams: Sendable, Equatable, HoldsSecrets {
    public var bytes: [UInt8]
    /// What has sealed them; `nil`: nothing, another program has opened them. Secret.
    public var passphrase: String?

    public init(bytes: [UInt8], passphrase: String? = nil) {
        self.bytes = bytes
        self.passphrase = passphrase
    }

    public init(_ object: JSONObject) throws(AgentError) {
        let members = Members(object, in: .params)
        bytes = try members.required("parcel_base64", .base64)
        passphrase = try members.optional("passphrase", .string)
    }

    public var json: JSON {
        var object: JSONObject = ["parcel_base64": .string(Base64.encode(bytes))]
        object["passphrase"] = passphrase.map(JSON.string)
        return .object(object)
    }
}
