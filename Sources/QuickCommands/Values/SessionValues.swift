/// The members of a `SessionStatus` of AuthWire. Texts have their escapes.
struct SessionValues {
    enum State {
        case signedOut, signingIn, active, stale, keyringLocked, signInRequired
    }

    private(set) var session = Text()
    private(set) var provider = Text()
    private(set) var environment: Text?
    /// As the protocol writes it.
    private(set) var stateWord = Text()
    private(set) var cause: Text?
    private(set) var message: Text?
    private(set) var user: UserValues?
    private(set) var needsPassword = false
    private(set) var renews = true
    private(set) var isRemembered = false
    private(set) var expiresAt: Double?
    private(set) var refreshAt: Double?
    private(set) var issuedAt: Double?
    private(set) var endsAt: Double?
    private(set) var isEndFixed = false
    private(set) var signedInAt: Double?
    private(set) var lastError: Text?
    private(set) var isUnsaved = false
    private(set) var hasClockSkew = false
    private(set) var scopes: JSONValue?
    private(set) var sharedSession: Text?
    private(set) var store: Text?
    private(set) var lockedSince: Double?
    private(set) var isDefault = false
    private var isOther = false

    /// The result of `session.list`.
    static func list(_ json: JSONValue) -> [SessionValues]? {
        json.list("sessions") { SessionValues($0) }
    }

    /// `nil` if a member is missing or has another type.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        var hasProvider = false
        while let member = members.next() {
            readText(member.key, member.value)
            readTime(member.key, member.value)
            readFlag(member.key, member.value)
            if member.key.equals("provider") { hasProvider = true }
            if isOther { return nil }
        }
        guard hasProvider, session.isSessionName, state != nil else { return nil }
        if let store, !Self.isStore(store) { return nil }
        if let sharedSession, !sharedSession.isSessionName { return nil }
    }

    private mutating func readText(_ key: Text, _ value: JSONValue) {
        switch key {
        case "session": session = text(value)
        case "provider": provider = text(value)
        case "environment": environment = value.isNull ? nil : text(value)
        case "state": stateWord = text(value)
        case "cause": cause = text(value)
        case "message": message = text(value)
        case "last_error": lastError = text(value)
        case "store_error": _ = text(value)
        case "shared_session": sharedSession = text(value)
        case "store": store = text(value)
        case "scopes":
            scopes = value
            if !value.isStrings { isOther = true }
        case "user":
            user = UserValues(value)
            if user == nil, !value.isNull { isOther = true }
        default: break
        }
    }

    private mutating func readTime(_ key: Text, _ value: JSONValue) {
        switch key {
        case "expires_at": expiresAt = time(value)
        case "refresh_at": refreshAt = time(value)
        case "issued_at": issuedAt = time(value)
        case "ends_at": endsAt = time(value)
        case "signed_in_at": signedInAt = time(value)
        case "locked_since": lockedSince = time(value)
        case "clock_skew_ms":
            hasClockSkew = true
            if value.integer == nil { isOther = true }
        default: break
        }
    }

    private mutating func readFlag(_ key: Text, _ value: JSONValue) {
        switch key {
        case "needs_password": needsPassword = flag(value)
        case "renews": renews = flag(value)
        case "remembered": isRemembered = flag(value)
        case "end_is_fixed": isEndFixed = flag(value)
        case "unsaved": isUnsaved = flag(value)
        case "default": isDefault = flag(value)
        default: break
        }
    }

    private mutating func text(_ value: JSONValue) -> Text {
        if value.string == nil { isOther = true }
        return value.string ?? Text()
    }

    private mutating func time(_ value: JSONValue) -> Double? {
        if value.number == nil { isOther = true }
        return value.number
    }

    private mutating func flag(_ value: JSONValue) -> Bool {
        if value.bool == nil { isOther = true }
        return value.bool ?? false
    }

    private static func isStore(_ word: Text) -> Bool {
        switch word {
        case "secret-service", "sealed-file", "etcd", "memory": true
        default: false
        }
    }

    var state: State? {
        switch stateWord {
        case "signed_out": .signedOut
        case "signing_in": .signingIn
        case "active": .active
        case "stale": .stale
        case "keyring_locked": .keyringLocked
        case "sign_in_required": .signInRequired
        default: nil
        }
    }

    /// `ExitStatus` of the full program: whether a program can use the session.
    var exitStatus: Int32 {
        switch state {
        case .signedOut, .signInRequired: 3
        case .keyringLocked: 4
        case .active, .stale, .signingIn, nil: 0
        }
    }

    /// The account's e-mail address, name or id; empty if none is known.
    var who: Text { user?.shown ?? Text() }
}
