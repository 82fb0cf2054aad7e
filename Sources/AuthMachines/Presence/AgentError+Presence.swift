internal import AuthModel
package import AuthWire

extension AgentError {
    static let presenceRefused = AgentError(
        .denied, "The check that you are there was refused.", cause: "presence_refused")

    static let presenceUnanswered = AgentError(
        .denied, "The check that you are there was not answered in time.", cause: "presence_refused")

    static let noPresenceAgent = AgentError(
        .denied,
        "polkit could not ask you: no authentication agent runs for this program. Desktops start one; on a terminal, "
            + "authc starts pkttyagent if that is installed.", cause: noPresenceAgentCause)

    static func presenceUnavailable(_ reason: String) -> AgentError {
        AgentError(
            .denied, "polkit could not be asked whether you are there: \(reason).", cause: "presence_unavailable")
    }

    /// Nobody can be asked about a program that is not known.
    package static let presenceOfUnknownProgram = AgentError(
        .denied, "It is not known which process has sent the request, so polkit cannot be asked.",
        cause: "presence_unavailable")

    static func presencePaused(for time: Duration) -> AgentError {
        AgentError(
            .denied,
            "\(LockRecord.mostFailures) checks that you are there were refused: none is made for a few minutes.",
            cause: "presence_paused", retryAfter: time)
    }

    static let tooManyPresenceChecks = AgentError(
        .busy, "Too many checks that you are there are open.", cause: "presence_waiting",
        retryAfter: retryWhenBusy)
}
