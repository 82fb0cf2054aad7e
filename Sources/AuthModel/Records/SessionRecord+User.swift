package import AuthWire

extension SessionRecord {
    /// Members of one user object: a provider that sends new names each time must not make the record grow.
    private static let maxMembers = 256

    /// Adds what a response reports about the user. Missing members keep their value, unless the response is about another
    /// user.
    package mutating func merge(user new: UserSummary, raw newRaw: JSON?) {
        guard let known = user, known.id == nil || new.id == nil || known.id == new.id else {
            user = new
            rawUser = newRaw ?? rawUser
            return
        }
        let isSameAddress = new.email == nil || new.email == known.email
        user = UserSummary(
            id: new.id ?? known.id, email: new.email ?? known.email, name: new.name ?? known.name,
            verified: new.verified ?? (isSameAddress ? known.verified : nil))
        rawUser = Self.merged(rawUser, newRaw)
    }

    private static func merged(_ known: JSON?, _ new: JSON?) -> JSON? {
        guard case .object(var object)? = known, case .object(let members)? = new else { return new ?? known }
        for (key, value) in members { object[key] = value }
        return object.count <= maxMembers ? .object(object) : new
    }
}
