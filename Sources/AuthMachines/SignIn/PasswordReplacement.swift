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
        let shared = answers.filter { $0.key != field && former.remembered?[$0.key] != nil }
        return !shared.isEmpty && shared.allSatisfy { former.remembered?[$0.key] == $0.value }
    }
}

extension SignInMachine {
    /// `nil`: the sign-in is not a reset, or the profile cannot repeat a sign-in.
    package var passwordReplacement: PasswordReplacement? {
        guard purpose == .password(.reset), let repeated = form.profile.repeatedMethod else { return nil }
        let own = form.method.newPasswordField.flatMap { form.fields[$0.name] }
        return PasswordReplacement(
            password: form.steps.newPassword ?? own,
            field: repeated.fields.first { $0.kind == FieldKind.password }?.name, answers: form.fields)
    }

    /// For the user, if a remembered sign-in has ended with the former password.
    func noteOfForgotten(_ status: SessionStatus) -> String? {
        guard purpose == .password(.reset), former?.remembered == true, !status.remembered else { return nil }
        return
            "The remembered sign-in does not fit any more and was removed: sign in with `--remember` to have the new "
            + "one remembered."
    }
}
