package import AuthWire

/// A stored value that this authd cannot read as a record. The reason never quotes the value.
package struct DamagedRecord: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// A newer authd wrote it: it is valid, and must not be replaced.
    package let isNewer: Bool

    package init(reason: String, isNewer: Bool = false) {
        (self.reason, self.isNewer) = (reason, isNewer)
    }

    package var description: String { reason }
}

extension SessionRecord: WireObject {
    /// The version of the layout below. It grows only if an older authd would misread a newer value; a member that an older
    /// one may ignore does not change it.
    private static let format = 3

    /// The oldest format that this record can be read in: an authd of the first would show bound tokens without a proof and
    /// lose their key, and would not know the client at a provider that registered us. One of the second would lose cookies,
    /// and the resource that the profile is generated from.
    private var leastFormat: Int {
        guard tokens.cookies.isEmpty, resource == nil else { return 3 }
        return tokens.proofKey == nil && client == nil ? 1 : 2
    }

    /// The whole record as one JSON object.
    package func encoded() -> Secret { Secret(bytes: json.serialized()) }

    /// Unknown members are ignored.
    package init(decoding value: Secret) throws(DamagedRecord) {
        let json: JSON
        do {
            json = try JSON(parsing: value.revealBytes())
        } catch {
            throw DamagedRecord(reason: "it is not JSON (byte \(error.offset) of \(value.count))")
        }
        if let format = json["format"]?.integerValue, !(1...Int64(Self.format)).contains(format) {
            guard format > 0 else { throw DamagedRecord(reason: "it has the unknown format \(format)") }
            throw DamagedRecord(
                reason: "a newer authd wrote it, in format \(format), and this one knows up to \(Self.format): "
                    + "update authd", isNewer: true)
        }
        do {
            self = try Self.decode(stored: json)
        } catch {
            throw DamagedRecord(reason: error.message)
        }
    }

    package init(blank: Blank) {
        let start = WallTime(unixSeconds: 0)
        self.init(
            session: .blank, provider: "", environment: "", method: "",
            tokens: TokenSet(accessToken: Secret(""), issuedAt: start), user: nil, rawUser: nil, signedInAt: start)
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        var format = leastFormat
        try visitor.required("format", &format, .integer)
        try visitor.required("session", &session, .sessionName)
        try visitor.required("provider", &provider, .string)
        try visitor.required("environment", &environment, .string)
        try visitor.required("method", &method, .string)
        try visitor.required("access_token", &tokens.accessToken, .secret)
        try visitor.required("token_type", &tokens.tokenType, .string)
        try visitor.required("issued_at", &tokens.issuedAt, .date)
        try visitor.required("needs_password", &needsPassword, .bool)
        try visitor.required("signed_in_at", &signedInAt, .date)
        try versions(&visitor)
        try visitor.optional("refresh_token", &tokens.refreshToken, .secret)
        try visitor.optional("expires_at", &tokens.expiresAt, .date)
        try pairs(&visitor)
        try visitor.optional("token_is_suspect", &tokens.isSuspect, .bool, default: false)
        try visitor.optional("refresh_token_stays", &tokens.keepsRefreshToken, .bool, default: false)
        var cookies = tokens.cookies.isEmpty ? nil : tokens.cookies
        try visitor.optional("cookies", &cookies, .cookies)
        tokens.cookies = cookies ?? CookieJar()
        try visitor.optional("client_secret", &clientSecret, .secret)
        try visitor.optional("client", &client, .object)
        try visitor.optional("resource", &resource, .object)
        try visitor.optional("user", &user, .object)
        try visitor.optional("raw_user", &rawUser, .anyOrNull)
        try visitor.optional("user_received_at", &userReceivedAt, .date)
        try visitor.optional("default_since", &defaultSince, .date)
        try visitor.optional("origins", &origins, .origins)
        try visitor.optional("default_implied", &isDefaultImplied, .bool, default: false)
        try visitor.optional("remembered", &remembered, .secrets)
    }

    private mutating func versions<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        // An older authd knows one number for all parts, and adds one to it; it omits the others.
        var (id, generation, changes) = (Optional(signIn), Optional(generation), Optional(revision))
        var number = version.number
        try visitor.optional("sign_in", &id, .signIn)
        try visitor.optional("generation", &generation, .revision)
        try visitor.written("corrections", &corrections, .revision)
        try visitor.optional("changes", &changes, .revision)
        try visitor.required("revision", &number, .revision)
        signIn = id ?? SignInID(signedInAt: signedInAt)
        self.generation = generation ?? number
        revision = changes ?? number
    }

    /// A lifetime and the scopes are two members each: a pair is read only if it is complete.
    private mutating func pairs<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        var (issuedAt, expiresAt) = (tokens.refreshLife?.issuedAt, tokens.refreshLife?.expiresAt)
        try visitor.optional("refresh_issued_at", &issuedAt, .date)
        try visitor.optional("refresh_expires_at", &expiresAt, .date)
        tokens.refreshLife = issuedAt.flatMap { start in expiresAt.map { TokenLife(issuedAt: start, expiresAt: $0) } }
        try visitor.optional("proof_key", &tokens.proofKey, .secret)
        var (granted, present) = (tokens.scopes?.granted, tokens.scopes?.present)
        try visitor.optional("granted_scopes", &granted, .strings)
        try visitor.optional("scopes", &present, .strings)
        tokens.scopes = granted.flatMap { granted in present.map { TokenScopes(granted: granted, present: $0) } }
    }
}
