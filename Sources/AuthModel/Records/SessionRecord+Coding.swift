import AuthWire

/// A stored value that is no record, or not one of ours. The reason never quotes the value.
package struct DamagedRecord: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    package var description: String { reason }
}

extension SessionRecord {
    /// The version of the layout below. It grows only when an older authd would misread a newer value; a member that
    /// an older one may overlook is added without.
    package static let format: Int64 = 2

    /// The oldest format that this record can be read in: an authd of the first would show bound tokens without a proof,
    /// and lose their key, and would not know as whom to renew at a provider that registered us itself.
    private var leastFormat: Int64 { tokens.proofKey == nil && client == nil ? 1 : 2 }

    /// The whole record as one JSON object.
    package func encoded() -> Secret {
        var object: JSONObject = [
            "format": .integer(leastFormat),
            "session": .string(session.text),
            "provider": .string(provider),
            "environment": .string(environment),
            "method": .string(method),
            "access_token": .string(tokens.accessToken.reveal()),
            "token_type": .string(tokens.tokenType),
            "issued_at": .number(tokens.issuedAt.unixSeconds),
            "needs_password": .bool(needsPassword),
            "signed_in_at": .number(signedInAt.unixSeconds),
            "sign_in": .string(signIn.text),
            "generation": JSON(generation),
            "corrections": JSON(corrections),
            "changes": JSON(revision),
            // For an older authd, which knows one number for everything and adds one to it.
            "revision": JSON(version.number),
        ]
        object["refresh_token"] = tokens.refreshToken.map { .string($0.reveal()) }
        object["expires_at"] = tokens.expiresAt.map { .number($0.unixSeconds) }
        object["refresh_issued_at"] = tokens.refreshLife.map { .number($0.issuedAt.unixSeconds) }
        object["refresh_expires_at"] = tokens.refreshLife.map { .number($0.expiresAt.unixSeconds) }
        object["proof_key"] = tokens.proofKey.map { .string($0.reveal()) }
        object["granted_scopes"] = tokens.scopes.map { .array($0.granted.map(JSON.string)) }
        object["scopes"] = tokens.scopes.map { .array($0.present.map(JSON.string)) }
        if tokens.isSuspect { object["token_is_suspect"] = true }
        object["client_secret"] = clientSecret.map { .string($0.reveal()) }
        object["client"] = client?.json
        object["user"] = user?.json
        object["raw_user"] = rawUser
        object["user_received_at"] = userReceivedAt.map { .number($0.unixSeconds) }
        object["default_since"] = defaultSince.map { .number($0.unixSeconds) }
        object["origins"] = origins?.json
        if isDefaultImplied { object["default_implied"] = true }
        if let remembered {
            var fields = JSONObject()
            for (name, value) in remembered.sorted(by: { $0.key < $1.key }) { fields[name] = .string(value.reveal()) }
            object["remembered"] = .object(fields)
        }
        return Secret(bytes: JSON.object(object).serialized())
    }

    /// Members it does not know are overlooked.
    package init(decoding value: Secret) throws(DamagedRecord) {
        let members = try RecordDecoder(value)
        let format: Int64 = try members.required("format", "a whole number", \.integerValue)
        guard (1...Self.format).contains(format) else {
            throw DamagedRecord(
                reason: "it has format \(format) and this authd knows up to \(Self.format); a newer one wrote it")
        }
        let name: String = try members.required("session", "text", \.stringValue)
        guard let session = try? SessionName(name) else {
            throw DamagedRecord(reason: "'session' is not a session name")
        }
        // An older authd has written one number for all parts. It is above those that it has read, and lost.
        let number: UInt64 = try members.required("revision", "a whole number", \.revision)
        try self.init(
            session: session,
            provider: members.required("provider", "text", \.stringValue),
            environment: members.required("environment", "text", \.stringValue),
            method: members.required("method", "text", \.stringValue),
            tokens: TokenSet(
                accessToken: Secret(members.required("access_token", "text", \.stringValue)),
                tokenType: members.required("token_type", "text", \.stringValue),
                refreshToken: members.optional("refresh_token", "text", \.stringValue).map { Secret($0) },
                issuedAt: members.required("issued_at", "a date in Unix seconds", \.date),
                expiresAt: members.optional("expires_at", "a date in Unix seconds", \.date),
                refreshLife: members.refreshLife(),
                proofKey: members.optional("proof_key", "text", \.stringValue).map { Secret($0) },
                scopes: members.scopes(),
                isSuspect: members.optional("token_is_suspect", "true or false", \.boolValue) ?? false),
            user: members.optional("user", "a user") { try? UserSummary($0) },
            rawUser: members.json("raw_user"),
            userReceivedAt: members.optional("user_received_at", "a date in Unix seconds", \.date),
            needsPassword: members.required("needs_password", "true or false", \.boolValue),
            signedInAt: members.required("signed_in_at", "a date in Unix seconds", \.date),
            signIn: members.optional("sign_in", "the ID of a sign-in") { $0.stringValue.flatMap(SignInID.init) },
            remembered: members.optional("remembered", "an object of texts", \.secrets),
            clientSecret: members.optional("client_secret", "text", \.stringValue).map { Secret($0) },
            client: members.optional("client", "a client", RegisteredClient.init(stored:)),
            generation: members.optional("generation", "a whole number", \.revision) ?? number,
            corrections: members.optional("corrections", "a whole number", \.revision) ?? 0,
            revision: members.optional("changes", "a whole number", \.revision) ?? number,
            defaultSince: members.optional("default_since", "a date in Unix seconds", \.date),
            isDefaultImplied: members.optional("default_implied", "true or false", \.boolValue) ?? false,
            origins: members.optional("origins", "origins", TokenOrigins.init(stored:)))
    }
}

/// The members of a stored object, read with errors that name the member and never its value.
private struct RecordDecoder {
    private let object: JSONObject

    init(_ value: Secret) throws(DamagedRecord) {
        let json: JSON
        do {
            json = try JSON(parsing: value.revealBytes())
        } catch {
            throw DamagedRecord(reason: "it is not JSON (byte \(error.offset) of \(value.count))")
        }
        guard let object = json.objectValue else { throw DamagedRecord(reason: "it is not a JSON object") }
        self.object = object
    }

    /// Both dates, or none.
    func refreshLife() throws(DamagedRecord) -> TokenLife? {
        guard let issuedAt = try optional("refresh_issued_at", "a date in Unix seconds", \.date),
            let expiresAt = try optional("refresh_expires_at", "a date in Unix seconds", \.date)
        else { return nil }
        return TokenLife(issuedAt: issuedAt, expiresAt: expiresAt)
    }

    /// Both lists, or none.
    func scopes() throws(DamagedRecord) -> TokenScopes? {
        guard let granted = try optional("granted_scopes", "a list of texts", \.texts),
            let present = try optional("scopes", "a list of texts", \.texts)
        else { return nil }
        return TokenScopes(granted: granted, present: present)
    }

    func json(_ key: String) -> JSON? {
        object[key]
    }

    func optional<Value>(
        _ key: String, _ expected: String, _ read: (JSON) -> Value?
    ) throws(DamagedRecord) -> Value? {
        guard let member = object[key] else { return nil }
        guard let value = read(member) else { throw DamagedRecord(reason: "'\(key)' is not \(expected)") }
        return value
    }

    func required<Value>(
        _ key: String, _ expected: String, _ read: (JSON) -> Value?
    ) throws(DamagedRecord) -> Value {
        guard let value = try optional(key, expected, read) else {
            throw DamagedRecord(reason: "'\(key)' is missing")
        }
        return value
    }
}

extension JSON {
    fileprivate var date: WallTime? {
        guard let seconds = doubleValue, seconds.isFinite else { return nil }
        return WallTime(unixSeconds: seconds)
    }

    /// Below 2^60: no session is written so often, and sums of such numbers stay whole numbers.
    fileprivate var revision: UInt64? {
        guard let value = integerValue, (0..<(1 << 60)).contains(value) else { return nil }
        return UInt64(value)
    }

    fileprivate var texts: [String]? {
        guard let list = arrayValue else { return nil }
        let texts = list.compactMap(\.stringValue)
        return texts.count == list.count ? texts : nil
    }

    fileprivate var secrets: [String: Secret]? {
        guard let object = objectValue else { return nil }
        var secrets: [String: Secret] = [:]
        for (name, value) in object {
            guard let text = value.stringValue else { return nil }
            secrets[name] = Secret(text)
        }
        return secrets
    }
}
