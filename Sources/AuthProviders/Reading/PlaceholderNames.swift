internal import AuthModel
internal import AuthWire

/// The placeholders that have a value at a place of a profile; others would never be filled in.
struct PlaceholderNames {
    let names: [String]

    var expected: String { "a placeholder of " + names.map { "{\($0)}" }.joined(separator: ", ") }

    /// In the request of a sign-in method: its own fields, and the claims of ID tokens.
    /// - Parameter session: names that a session adds, if there is one.
    static func signIn(_ fields: [StepField], session: PlaceholderNames? = nil) -> PlaceholderNames {
        let names = fields.flatMap { field in
            let claims = field.kind == FieldKind.idToken ? JWTClaims.textClaims : []
            return [field.name] + claims.map { "\(field.name).\($0)" }
        }
        return PlaceholderNames(names: names + (session?.names ?? [TemplateValues.Name.environment]))
    }

    func with(_ others: [String]) -> PlaceholderNames {
        others.isEmpty ? self : PlaceholderNames(names: names + others.filter { !names.contains($0) })
    }

    func without(_ others: [String]) -> PlaceholderNames {
        PlaceholderNames(names: names.filter { !others.contains($0) })
    }

    /// In every other request: names of the session, as far as responses and user define them.
    static func session(replies: [ResponseMap], user: UserMap) -> PlaceholderNames {
        var names = [TemplateValues.Name.accessToken, TemplateValues.Name.environment]
        if replies.contains(where: { $0.refreshToken != nil }) { names.append(TemplateValues.Name.refreshToken) }
        if replies.contains(where: { !$0.user.isEmpty }) {
            if !user.id.isEmpty { names.append(TemplateValues.Name.userID) }
            if !user.email.isEmpty { names.append(TemplateValues.Name.userEmail) }
            if !user.name.isEmpty { names.append(TemplateValues.Name.userName) }
        }
        return PlaceholderNames(names: names.sorted())
    }
}
