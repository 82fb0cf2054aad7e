import AuthWire

/// Decides whether a refused sign-in is tried again, and keeps the answers that stay the same.
///
/// Invariant: it holds no secret that was typed.
struct SignInTries {
    /// As in ssh(1) and sudo(8).
    static let most = 3

    /// The fields on the command line, which every try begins with.
    let fields: [String: String]
    /// What was typed in the last try and is not secret: the defaults of this one, so that a mistake in it can be corrected.
    private(set) var previous: [String: String] = [:]
    /// The user has agreed to replace the session's account.
    private(set) var hasAgreed = false
    /// A secret on the command line, from a descriptor or stdin: it may be the wrong one, and cannot be asked for.
    private let hasGivenSecrets: Bool
    private var count = 1
    private var typed: [String: String] = [:]
    /// The names in the first question.
    private var asked: Set<String> = []
    /// A secret was typed that the provider knows already.
    private var hasTypedSecret = false
    /// The provider has done more than to refuse the first answers, such as sending a code.
    private var isFurther = false

    /// - Parameter hasGivenSecrets: whether `fields` has secrets.
    init(fields: [String: String], hasGivenSecrets: Bool) {
        self.fields = fields
        self.hasGivenSecrets = hasGivenSecrets
    }

    mutating func received(_ step: Step) {
        switch step.kind {
        case .done, .failed: return
        case .fields: break
        case .browser, .device, .lend, .wait: return isFurther = true
        }
        // The agent itself asks again for a wrong code.
        if step.sentTo != nil || step.resendAt != nil || step.error != nil { isFurther = true }
        let names = Set((step.fields ?? []).filter { $0.kind != StepField.agreement }.map(\.name))
        if asked.isEmpty { asked = names }
        if !asked.isSuperset(of: names) { isFurther = true }
    }

    mutating func answered(_ answers: [String: String], to step: Step) {
        for field in step.fields ?? [] {
            guard let answer = answers[field.name] else { continue }
            if field.kind == StepField.agreement {
                hasAgreed = hasAgreed || answer == StepField.yes
            } else if field.secret {
                // A new password was not mistyped: it was typed twice.
                hasTypedSecret = hasTypedSecret || field.kind != StepField.newPassword
            } else if field.kind != "code" {
                // A code is valid once.
                typed[field.name] = answer
            }
        }
    }

    /// Whether to try again after this end, with every answer asked for again. It counts the tries.
    mutating func isRepeated(after error: AgentError) -> Bool {
        let isAboutAnswers = [ErrorKind.refused, .validation].contains(error.kind)
        // A provider that limits tries is left alone (RFC 6585 §4, RFC 9110 §10.2.3).
        let isLimited = error.httpStatus == 429 || error.retryAfter != nil
        guard hasTypedSecret, !hasGivenSecrets, !isFurther, isAboutAnswers, !isLimited, count < Self.most
        else { return false }
        count += 1
        (asked, hasTypedSecret) = ([], false)
        (previous, typed) = (typed, [:])
        return true
    }
}
