package import AuthWire

extension AgentError {
    static let consentRefused = AgentError(
        .denied, "You were asked about this program, and refused.", cause: "consent_refused")

    static let consentUnanswered = AgentError(
        .denied,
        "You were asked about this program, and there was no answer in time. `authc approve` answers on a terminal.",
        cause: "consent_refused")

    static func consentPaused(for time: Duration) -> AgentError {
        AgentError(
            .denied, "This program was refused: you are not asked about it again for a few minutes.",
            cause: "consent_paused", retryAfter: time)
    }

    /// Nobody can be asked.
    package static let consentUnavailable = AgentError(
        .denied,
        "This needs your consent, but nothing can ask you: no desktop shows the question, and you have no login session "
            + "in which to run `authc approve`.",
        cause: "consent_unavailable")

    static let tooManyQuestions = AgentError(
        .busy, "Too many questions about programs are open.", cause: "consent_waiting",
        retryAfter: retryWhenBusy)

    package static let unknownQuestion = AgentError(
        .notFound, "This question is not open: it was answered, has ended, or was never asked.")

    static let ownQuestion = AgentError(
        .denied, "A process does not answer the question about itself.", cause: "own_question")

    /// The refusal of a client that may not answer questions.
    package static let noLoginTerminal = AgentError(
        .denied, "Questions about programs are answered on a terminal of a login session, or on the desktop.",
        cause: "no_login_terminal")
}
