package import AuthWire

/// What a user can do about an API that requires scopes which a session does not have (RFC 6750 §3.1).
package struct ScopeGrant: Sendable, Equatable {
    /// What the session does not have.
    package let missing: [String]
    /// `nil` if another sign-in would not help.
    package let signIn: SignInCommand?
    private let needed: [String]

    /// What the user can type.
    package var command: String? { signIn?.text }

    /// - Parameter needed: as the API names them; empty if it does not.
    package init(of record: SessionRecord, at profile: ProviderProfile, needed: [String]) {
        let granted = record.tokens.scopes?.granted ?? []
        self.needed = needed
        missing = needed.filter { !granted.contains($0) }
        // With all scopes, because a sign-in replaces those of the session.
        signIn =
            profile.oauth == nil || missing.isEmpty
            ? nil : SignInCommand(of: record, at: profile, scopes: granted + missing)
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
