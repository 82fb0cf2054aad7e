/// The members of a `ProviderSummary` of AuthWire. Texts have their escapes.
struct ProviderValues {
    private(set) var name = Text()
    private var hasName = false
    private var hasTitle = false
    private var hasSource = false

    /// `nil` if a member is missing or has another type.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        while let member = members.next() {
            guard read(member.key, member.value) else { return nil }
        }
        guard hasName, hasTitle, hasSource else { return nil }
    }

    private mutating func read(_ key: Text, _ value: JSONValue) -> Bool {
        switch key {
        case "name":
            guard let text = value.string else { return false }
            (name, hasName) = (text, true)
        case "title":
            hasTitle = true
            return value.string != nil
        case "source":
            hasSource = true
            return value.string != nil
        case "environments", "methods": return value.isStrings
        default: break
        }
        return true
    }
}
