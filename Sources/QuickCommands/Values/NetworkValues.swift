/// The members of a `NetworkStatus` of AuthWire.
struct NetworkValues {
    private var state = Text()
    private var since: Double?
    private var providers: JSONValue?
    private var isMetered = false
    /// Queued writes and streams wait.
    private(set) var transfersWait = false

    /// `nil` if a member is missing or has another type.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        while let member = members.next() {
            guard read(member.key, member.value) else { return nil }
        }
        guard since != nil else { return nil }
        switch state {
        case "online", "limited", "portal", "offline": break
        default: return nil
        }
    }

    private mutating func read(_ key: Text, _ value: JSONValue) -> Bool {
        switch key {
        case "state":
            state = value.string ?? Text()
        case "since":
            since = value.number
        case "providers":
            providers = value
            return Self.all(value) { $0.string != nil }
        case "clock_skew_ms":
            return Self.all(value) { $0.integer != nil }
        case "metered":
            guard let flag = value.bool else { return false }
            isMetered = flag
        case "transfers_wait":
            guard let flag = value.bool else { return false }
            transfersWait = flag
        default: break
        }
        return true
    }

    private static func all(_ object: JSONValue, _ condition: (JSONValue) -> Bool) -> Bool {
        guard var members = JSONList(object: object) else { return false }
        while let member = members.next() {
            if !condition(member.value) { return false }
        }
        return true
    }

    /// What `network` prints; `nil` for texts with escapes.
    func text(now: Double) -> ByteString? {
        guard let since, let clock = Clock.text(since, now: now) else { return nil }
        var text = ByteString(state)
        text.append(" since ")
        text.append(clock)
        if isMetered { text.append(transfersWait ? "\n  metered: queued writes and streams wait" : "\n  metered") }
        guard var members = providers.flatMap({ JSONList(object: $0) }) else { return text }
        var last = Text()
        while let member = members.next() {
            // Sorted, as the agent writes them.
            guard let word = member.value.string, !word.contains(.backslash), !member.key.contains(.backslash),
                last < member.key
            else { return nil }
            last = member.key
            text.append("\n  ")
            text.append(member.key)
            text.append(": ")
            text.append(word)
        }
        return text
    }
}
