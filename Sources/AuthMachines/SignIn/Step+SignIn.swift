import AuthModel
import AuthWire

extension Step {
    static func failed(_ login: String, _ error: AgentError) -> Step { Step(login: login, kind: .failed, error: error) }

    /// The user is asked something.
    /// - Parameter sent: the challenge that the answers depend on.
    init(login: String, _ question: SignInQuestion, about sent: SignInForm.SentChallenge?, at now: Moment) {
        self.init(
            login: login, kind: question.url == nil ? .fields : .browser, fields: question.fields,
            message: question.message, sentTo: sent?.place,
            expiresAt: sent?.endsAt.map { now.date(of: $0).unixSeconds },
            resendAt: sent.map { now.date(of: $0.againAt).unixSeconds }, url: question.url, error: question.error)
    }

    /// The user is in a browser that comes back by itself.
    init(login: String, _ authorization: BrowserAuthorization, redirect: RedirectTarget?, until end: WallTime) {
        self.init(
            login: login, kind: .browser, expiresAt: end.unixSeconds, url: authorization.attempt.url,
            certificateSHA256: authorization.fingerprint)
        // The client has the desktop pass addresses of this scheme to the agent meanwhile.
        if case .scheme(let redirect) = redirect { redirectScheme = redirect.scheme }
    }

    /// The user is at another device.
    init(login: String, _ device: DeviceAuthorization, until end: WallTime) {
        self.init(
            login: login, kind: .device, expiresAt: end.unixSeconds, verificationURI: device.verificationURI,
            verificationURIComplete: device.completeURI, userCode: device.userCode)
    }
}
