/// The backends' rules for a new password.
enum PasswordRules {
    static let length = 8

    static func checkLength(_ password: String) throws(Refusal) {
        guard password.count >= length else {
            throw .badRequest("Validation failed", details: ["Password must be at least \(length) characters"])
        }
    }

    /// Eight characters or more, with a lower-case letter, an upper-case letter, a digit and one of `@$!%*?&`.
    static func checkMixture(_ password: String) throws(Refusal) {
        var unmet: [String] = []
        if password.count < length { unmet.append("Password must be at least \(length) characters") }
        if !password.contains(where: \.isLowercase) { unmet.append("Password needs a lower-case letter") }
        if !password.contains(where: \.isUppercase) { unmet.append("Password needs an upper-case letter") }
        if !password.contains(where: \.isNumber) { unmet.append("Password needs a digit") }
        if !password.contains(where: { "@$!%*?&".contains($0) }) {
            unmet.append("Password needs one of @$!%*?&")
        }
        guard unmet.isEmpty else { throw .badRequest("Validation failed", details: unmet) }
    }
}
