/// What can be done to the world of the sign-ins. All of it is about the newest sign-in, or about the provider.
package enum SignInOperation: Sendable, Equatable {
    /// A client begins a sign-in to the one session.
    /// - Parameters:
    ///   - account: whose.
    ///   - replaces: another sign-in in progress ends.
    case start(SignInWay, account: Int, replaces: Bool)
    /// The user answers what is asked.
    case answer(isRight: Bool)
    /// The user says whether the session may be given to another account.
    case agree(Bool)
    case resend
    /// Another caller waits for the next step.
    case join
    /// The caller that has waited longest goes away.
    case leave
    case cancel
    /// The browser comes back.
    case browser(BrowserVisit)
    /// The user gives the code at the other device, or opens the link in the e-mail, or refuses.
    case device(isApproved: Bool)
    case provider(SignInBehaviour)
    case store(isWorking: Bool)
    /// The machine sleeps: time passes and nothing happens.
    case sleep(Duration)
    /// The process is killed, and started again later.
    case crash(down: Duration)
    /// The process is stopped: what is in progress is dropped with `stopping`, and it is started again later.
    case stop(down: Duration)
}

/// How a sign-in is done.
package enum SignInWay: Sendable, Equatable, CaseIterable {
    case password, code, browser, paste, device, service
    /// In a browser, as a client that the server registers itself.
    case registered
    /// With a second factor and a choice, which the responses ask for, after a request for a CSRF token.
    case steps
    /// A link by e-mail.
    case link
    case key
}

package enum BrowserVisit: Sendable, Equatable, CaseIterable {
    case code, refusal, unrelated
}

/// What a provider does about a request.
package enum SignInBehaviour: Sendable, Equatable {
    case well
    case slow(Duration)
    /// Connections are refused.
    case down
    /// Tokens come without the user that they belong to.
    case withholdsUser
    /// A refusal that stands.
    case refuses
    /// It does not know the client that it registered.
    case forgetsClients
    /// It asks for the same step or for another request, whatever it gets.
    case asksOn
    /// Responses do not have the values that later requests need.
    case withholdsValues
}
