package import AuthAgent
import AuthModel
import AuthWire

extension AuditLog {
    /// Records a try to send a queued write, with the program that queued it.
    package func record(_ write: WriteAttempt, of context: AgentContext) {
        let profile: (SessionName?) -> ProviderProfile? = { _ in
            context.providers.profile(named: write.entry.owner.provider)
        }
        var request =
            switch write.request {
            case .request(let call): AuditedRequest(call, profile: profile)
            case .call(let call): AuditedRequest(call, profile: profile)
            }
        (request.session, request.outbox) = (write.entry.session, write.entry.id)
        record(
            request, by: nil, queuedBy: write.entry.caller, rule: write.decision?.rule ?? AuditTrail.undecided,
            enforced: write.decision?.enforced, error: write.error.map { $0.kind ?? .internal_ })
    }
}
