package import AuthWire

/// What a user can do about an API that requires scopes which a session does not have (RFC 6750 §3.1).
package struct ScopeGrant: Sendable, Equatable {
    /// What the session does not have.
    package let missing: [String]
    /// What the user can type; `nil` if another sign-in would not help.
    package let command: String?
    private let needed: [String]

    /// - Parameter needed: as the API names them; empty if it does not.
    package init(of record: SessionRecord, at profile: ProviderProfile, needed: [String]) {
        let granted = record.tokens.scopes?.granted ?? []
        self.needed = needed
        missing = needed.filter { !granted.contains($0) }
        command =
            profile.oauth == nil || missing.isEmpty ? nil : Self.command(record, profile, scopes: granted + missing)
    }

    /// With all scopes, because a sign-in replaces those of the session.
    private static func command(_ record: SessionRecord, _ profile: ProviderProfile, scopes: [String]) -> String {
        var words = ["authc", "login", record.provider, "-s", record.session.text]
        if record.environment != profile.defaultEnvironment { words += ["--environment", record.environment] }
        if let flow = profile.signIn.first(where: { $0.name == record.method })?.flow,
            [.device, .paste, .service].contains(flow)
        {
            words += ["--method", record.method]
        }
        if let resource = record.resource, resource.clientSource == .user {
            words += ["--client-id", resource.clientID]
        }
        for scope in scopes { words += ["--scope", scope] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }

    /// The error with the missing scopes as details, and the command.
    package func explained(_ error: AgentError) -> AgentError {
        var error = error
        error.details = missing
        if let command {
            error.message += " Missing: \(missing.joined(separator: " ")). To grant them, run: \(command)"
        } else if needed.isEmpty {
            error.message += " It does not name them."
        } else if missing.isEmpty {
            error.message +=
                " The session was granted them (\(needed.joined(separator: " "))): the account may lack the right."
        }
        return error
    }
}
