internal import AuthCore

/// The names that have a value in some place of a profile; any other would never be filled in.
struct PlaceholderNames {
    let names: [String]

    var expected: String { "a placeholder of " + names.map { "{\($0)}" }.joined(separator: ", ") }

    /// In the request of a sign-in method: its own fields.
    static func signIn(_ fields: [String]) -> PlaceholderNames {
        PlaceholderNames(names: fields + [TemplateValues.Name.environment])
    }

    /// In every other request: what the session knows, by what the answers and the user tell.
    static func session(replies: [ReplyMap], user: UserMap) -> PlaceholderNames {
        var names = [TemplateValues.Name.accessToken, TemplateValues.Name.environment]
        if replies.contains(where: { $0.refreshToken != nil }) { names.append(TemplateValues.Name.refreshToken) }
        if replies.contains(where: { $0.user != nil }) {
            if user.id != nil { names.append(TemplateValues.Name.userID) }
            if user.email != nil { names.append(TemplateValues.Name.userEmail) }
            if !user.name.isEmpty { names.append(TemplateValues.Name.userName) }
        }
        return PlaceholderNames(names: names.sorted())
    }
}
