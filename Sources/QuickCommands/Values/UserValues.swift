/// The members of a `UserSummary` of AuthWire, and of the `UserResult` around it.
struct UserValues {
    /// All with their escapes.
    private(set) var id: Text?
    private(set) var email: Text?
    private(set) var name: Text?
    /// In milliseconds.
    private var age: Int64?

    /// In milliseconds. The age of a younger user is not reported.
    private static let reportableAge = 3_600_000

    /// The result of `user.get`; `nil` if a member is missing or has another type.
    init?(answer json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        var user: UserValues?
        var age: Int64?
        while let member = members.next() {
            switch member.key {
            case "user":
                guard let summary = UserValues(member.value) else { return nil }
                user = summary
            case "fetched_at":
                if member.value.number == nil { return nil }
            case "age_ms":
                guard let milliseconds = member.value.integer else { return nil }
                age = milliseconds
            default: break
            }
        }
        guard let user else { return nil }
        self = user
        self.age = age
    }

    /// The user of a session.
    init?(_ json: JSONValue) {
        guard var members = JSONList(object: json) else { return nil }
        while let member = members.next() {
            guard read(member.key, member.value) else { return nil }
        }
    }

    private mutating func read(_ key: Text, _ value: JSONValue) -> Bool {
        switch key {
        case "id": id = value.string
        case "email": email = value.string
        case "name": name = value.string
        case "verified": return value.bool != nil
        default: return true
        }
        return value.string != nil
    }

    /// The e-mail address, the name or the id.
    var shown: Text? { email ?? name ?? id }

    /// Whether the age is reported.
    var isOld: Bool { age.map { $0 >= Self.reportableAge } ?? false }
}
