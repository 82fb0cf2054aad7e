import AuthMachines
import AuthModel
import AuthWire

/// A fault between the sign-in machine and its environment, which the checker must find.
package enum SignInInjectedFault: String, InjectedFault {
    case endsTwice
    case installsTwice, installsAfterTheEnd
    /// A sign-in succeeds although the session's tokens could not be installed.
    case hidesFailedInstalls
    case revokesWhatItInstalls, dropsLateTokens
    case keepsPlaceholder, keepsListener
    case repliesTwice, forgetsCallers, forgetsTheLastStep
    case ignoresDeadlines
    case agreesForTheUser
    case requestsTwice
    /// The machine's clock runs twice as fast.
    case pollsTooSoon

    package var rule: Rule {
        switch self {
        case .endsTwice: .signInEnd
        case .installsTwice, .installsAfterTheEnd, .hidesFailedInstalls: .signInInstall
        case .revokesWhatItInstalls, .dropsLateTokens: .signInTokens
        case .keepsPlaceholder, .keepsListener: .signInLeftovers
        case .repliesTwice, .forgetsCallers, .forgetsTheLastStep: .signInReplies
        case .ignoresDeadlines: .signInTimeout
        case .agreesForTheUser: .signInAccount
        case .requestsTwice, .pollsTooSoon: .signInRequests
        }
    }

    /// What the machine handles.
    func changed(_ event: SignInEvent) -> SignInEvent {
        switch (self, event) {
        case (.agreesForTheUser, .examined(let user, let origins, _)):
            .examined(user: user, origins: origins, former: nil)
        case (.hidesFailedInstalls, .installed(.failure)):
            .installed(
                .success(
                    SessionStatus(
                        session: SignInSimulationRun.session, provider: "example", environment: "production",
                        state: .active)))
        default: event
        }
    }

    /// What the world sees of the machine's actions.
    func changed(_ action: SignInAction) -> [SignInAction] {
        switch (self, action) {
        case (.endsTwice, .end), (.installsTwice, .install), (.requestsTwice, .request): [action, action]
        case (.installsAfterTheEnd, .revoke(let record)):
            [
                action,
                .install(
                    record, sentAt: Moment(boot: BootInstant(sinceBoot: .zero), wall: record.signedInAt),
                    revokesFormer: false),
            ]
        case (.revokesWhatItInstalls, .install(let record, _, _)): [action, .revoke(record)]
        case (.dropsLateTokens, .revoke), (.keepsPlaceholder, .removePlaceholder), (.keepsListener, .stopListening): []
        default: [action]
        }
    }

    func changed(_ replies: [(caller: CallerID, reply: SignInReply)]) -> [(caller: CallerID, reply: SignInReply)] {
        switch self {
        case .repliesTwice: replies.flatMap { [$0, $0] }
        case .forgetsCallers: Array(replies.dropFirst())
        case .forgetsTheLastStep: replies.map { ($0.caller, $0.reply.isLast ? .failure(.unknownLogin) : $0.reply) }
        default: replies
        }
    }
}

extension SignInReply {
    fileprivate var isLast: Bool {
        if case .success(let step) = self { step.kind == .done || step.kind == .failed } else { false }
    }
}
