/// The members of an `OutboxItem` of AuthWire. Texts have their escapes.
struct OutboxValues {
    private(set) var id = Text()
    private var hasID = false
    private var hasSession = false
    private var hasState = false
    private var hasRequest = false
    private var hasKey = false
    private var hasTime = false

    /// `nil` if a member is missing or has another type. An error of any form is accepted, as in AuthWire.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        while let member = members.next() {
            guard read(member.key, member.value) else { return nil }
        }
        guard hasID, hasSession, hasState, hasRequest, hasKey, hasTime else { return nil }
    }

    private mutating func read(_ key: Text, _ value: JSONValue) -> Bool {
        switch key {
        case "id":
            guard let text = value.string else { return false }
            (id, hasID) = (text, true)
        case "session":
            hasSession = true
            return value.string?.isSessionName ?? false
        case "state":
            hasState = true
            return value.string.map(Self.isState) ?? false
        case "request":
            hasRequest = true
            return value.string != nil
        case "idempotency_key":
            hasKey = true
            return value.string != nil
        case "queued_at":
            hasTime = true
            return value.number != nil
        case "tries": return value.integer.map { $0 >= 0 } ?? false
        case "retry_at": return value.number != nil
        case "waits_for": return value.string != nil
        default: break
        }
        return true
    }

    private static func isState(_ word: Text) -> Bool {
        switch word {
        case "waiting", "sending", "given_up": true
        default: false
        }
    }
}
