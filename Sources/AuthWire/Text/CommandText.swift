/// Commands of `authc` for messages, as a user may type or paste them.
package enum CommandText {
    /// Signs in to a session.
    /// - Parameters:
    ///   - provider: its name or URL; `nil` if it is not known.
    ///   - environment: `nil`: that of the session, if there is one, otherwise the profile's default.
    ///   - scopes: to request; empty: the profile's.
    package static func login(
        _ provider: String?, session: SessionName? = nil, environment: String? = nil, scopes: [String] = []
    ) -> String {
        var arguments = ["login"] + [provider].compactMap(\.self)
        if let session { arguments += ["-s", session.text] }
        if let environment { arguments += ["--environment", environment] }
        for scope in scopes { arguments += ["--scope", scope] }
        return authc(arguments)
    }

    package static func authc(_ arguments: [String]) -> String {
        (["authc"] + arguments).map(ShellWord.quoted).joined(separator: " ")
    }
}
