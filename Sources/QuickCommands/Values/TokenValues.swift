/// The members of a `TokenResult` of AuthWire.
struct TokenValues {
    /// With its escapes.
    private(set) var accessToken = Text()
    private var hasToken = false
    private var hasType = false
    private var hasSession = false

    /// `nil` if one is missing or has another type.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        while let member = members.next() {
            guard read(member.key, member.value) else { return nil }
        }
        guard hasToken, hasType, hasSession else { return nil }
    }

    private mutating func read(_ key: Text, _ value: JSONValue) -> Bool {
        switch key {
        case "access_token":
            guard let text = value.string else { return false }
            (accessToken, hasToken) = (text, true)
        case "token_type":
            guard let type = value.string, !type.contains(.backslash) else { return false }
            hasType = true
        case "session":
            guard let session = value.string, session.isSessionName else { return false }
            hasSession = true
        case "expires_at": return value.number != nil
        case "valid_ms": return value.integer.map { $0 >= 0 } ?? false
        default: break
        }
        return true
    }
}
