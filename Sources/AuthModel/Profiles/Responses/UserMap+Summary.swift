package import AuthWire

extension UserMap {
    /// The common part of a user object; a member that is missing or is not a text stays `nil`.
    package func summary(of user: JSON) -> UserSummary {
        UserSummary(
            id: id.lazy.compactMap { Self.identifier($0.find(in: user)) }.first,
            email: email.lazy.compactMap { Self.text($0.find(in: user)) }.first,
            name: name.lazy.compactMap { Self.joined($0, user) }.first, verified: verified?.find(in: user)?.boolValue)
    }

    /// The user object at the first of these places that has one. If there are several places, it must identify a user: the
    /// whole response is an object in any case.
    func find(at places: [JSONPointer], in body: JSON) -> (raw: JSON, summary: UserSummary)? {
        for place in places {
            guard let raw = place.find(in: body), case .object = raw else { continue }
            let summary = summary(of: raw)
            if places.count == 1 || summary.id != nil || summary.email != nil { return (raw, summary) }
        }
        return nil
    }

    /// A text without surrounding whitespace, or a whole number. A text with hidden characters is refused, because the provider
    /// receives it again.
    private static func identifier(_ value: JSON?) -> String? {
        if let number = value?.integerValue { return String(number) }
        if case .unsigned(let number) = value { return String(number) }
        guard let text = value?.stringValue?.withoutSpaceAround, ProviderText.clean(text) == text else { return nil }
        return text
    }

    private static func text(_ value: JSON?) -> String? { (value?.stringValue).flatMap(ProviderText.clean) }

    private static func joined(_ parts: [JSONPointer], _ user: JSON) -> String? {
        let texts = parts.compactMap { text($0.find(in: user)) }
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }
}
