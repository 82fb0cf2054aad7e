import AuthModel
package import AuthWire

/// A sign-in that would give a session to another account: the user is asked first.
package struct AccountChange: Sendable {
    /// Both accounts, in words.
    let message: String

    /// What the user is asked.
    static let field = StepField(
        name: "replace_account", label: "Replace the account", kind: StepField.agreement, rules: ["yes or no"])

    /// - Parameters:
    ///   - user: as far as the user of the sign-in is known.
    ///   - mustBeKnown: whether a user who cannot be compared with the known one counts as another.
    /// - Returns: `nil` if nothing shows that the accounts are different.
    package init?(
        of session: SessionName, from former: SessionStatus?, to user: UserSummary?, at environment: String,
        mustBeKnown: Bool = false
    ) {
        guard let former, former.state != .signedOut else { return nil }
        if let formerEnvironment = former.environment, formerEnvironment != environment {
            message =
                "Session \(session) is signed in at the environment \(formerEnvironment); this sign-in is at "
                + "\(environment)."
        } else if let known = former.user, let user, known.isOther(than: user) {
            message = "Session \(session) is signed in as \(known.description); this sign-in is as \(user.description)."
        } else if mustBeKnown, let known = former.user, user?.isSame(as: known) != true {
            message =
                "Session \(session) is signed in as \(known.description); the provider does not say whether this sign-in is "
                + "as the same user."
        } else {
            return nil
        }
    }

    /// The user did not agree.
    var refusal: AgentError {
        AgentError(
            .conflict,
            message + " Nothing was changed. `--replace-account` replaces the account; another name for the session, "
                + "given with `-s`, keeps both.", cause: "other_user")
    }

    /// Whether an answer to ``field`` agrees.
    static func isYes(_ answer: String) -> Bool { ["yes", "y", "true"].contains(answer.lowercased()) }
}

extension UserSummary {
    /// Compares the ids if both have one, else the addresses; `nil` if neither can be compared.
    func isSame(as user: UserSummary) -> Bool? {
        if let id, let other = user.id { return id == other }
        if let email, let other = user.email { return email.lowercased() == other.lowercased() }
        return nil
    }

    fileprivate func isOther(than user: UserSummary) -> Bool { isSame(as: user) == false }

    fileprivate var description: String { email ?? name ?? id ?? "an unknown user" }
}
