package import AuthModel
import AuthWire

/// What a reset of the password means for a remembered sign-in: it uses the new password.
package struct PasswordReplacement: Sendable {
    /// `nil`: only the provider knows it.
    let password: Secret?
    /// The field of the remembered sign-in that has the password; `nil`: that sign-in needs none.
    let field: String?
    /// The answers to the reset's own fields.
    let answers: [String: Secret]

    /// - Returns: the new record, with what the former one remembers if that is of the same account and still signs in.
    package func completed(_ record: SessionRecord, replacing former: SessionRecord) -> SessionRecord {
        guard var remembered = former.remembered, isSameAccount(record, former) else { return record }
        if let field {
            guard let password, remembered[field] != nil else { return record }
            remembered[field] = password
        }
        var record = record
        record.remembered = remembered
        return record
    }

    /// As the provider says, else as the user said. Another account's sign-in must not get this password.
    private func isSameAccount(_ record: SessionRecord, _ former: SessionRecord) -> Bool {
        guard record.provider == former.provider, record.environment == former.environment else { return false }
        if let user = record.user, let known = former.user, let isSame = known.isSame(as: user) { return isSame }
        // All that the sign-in knows besides the password: an organization alone may have several accounts.
        let known = (former.remembered ?? [:]).filter { $0.key != field }
        return !known.isEmpty && known.allSatisfy { answers[$0.key] == $0.value }
    }
}

extension SignInMachine {
    /// `nil`: the sign-in is not a reset, or the profile cannot repeat a sign-in.
    package var passwordReplacement: PasswordReplacement? {
        guard purpose == .password(.reset), let repeated = form.profile.repeatedMethod else { return nil }
        // Another secret may be the former password.
        let others: Set = [FieldKind.key, FieldKind.idToken]
        let hasSecret = repeated.fields.contains { $0.secret && !others.contains($0.kind ?? "") }
        guard repeated.passwordField != nil || !hasSecret else { return nil }
        let own = form.method.newPasswordField.flatMap { form.fields[$0.name] }
        return PasswordReplacement(
            password: form.steps.newPassword ?? own,
            field: repeated.passwordField?.name, answers: form.fields)
    }

    /// For the user, if a remembered sign-in has ended with the former password.
    func noteOfForgotten(_ status: SessionStatus) -> String? {
        guard purpose == .password(.reset), former?.remembered == true, !status.remembered else { return nil }
        return
            "The remembered sign-in was removed, because it may no longer work. To remember the new password, sign in "
            + "with `--remember`."
    }
}
