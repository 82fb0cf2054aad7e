import AuthModel
package import AuthWire

/// A sign-in that would give a session to another account: the user is asked first.
package struct AccountChange: Sendable {
    /// Both accounts, in words.
    let message: String

    /// What the user is asked.
    static let field = StepField(
        name: "replace_account", label: "Replace the account", kind: StepField.agreement, rules: ["yes or no"])

    /// By what was given, before anything is sent: an address, or another environment.
    /// - Returns: `nil` if nothing shows that the accounts are different.
    package init?(from former: SessionStatus?, given login: SignInMachine) {
        var user = UserSummary()
        let field = login.method.fields.first { $0.kind == FieldKind.email }
        user.email = field.flatMap { login.fields[$0.name]?.reveal() }
        self.init(from: former, to: user, login)
    }

    /// By what the provider says of the user who has signed in.
    /// - Returns: as ``init(from:given:)``.
    package init?(from former: SessionStatus?, to user: UserSummary?, _ login: SignInMachine) {
        guard let former, former.state != .signedOut else { return nil }
        if let environment = former.environment, environment != login.environment {
            message =
                "Session \(login.session) is signed in at the environment \(environment); this sign-in is at "
                + "\(login.environment)."
        } else if let known = former.user, let user, known.isOther(than: user) {
            message =
                "Session \(login.session) is signed in as \(known.words); this sign-in is as \(user.words)."
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
    /// By the id if both have one, else by the address; `false` if that does not tell.
    fileprivate func isOther(than user: UserSummary) -> Bool {
        if let id, let other = user.id { return id != other }
        if let email, let other = user.email { return email.lowercased() != other.lowercased() }
        return false
    }

    fileprivate var words: String { email ?? name ?? id ?? "somebody" }
}
