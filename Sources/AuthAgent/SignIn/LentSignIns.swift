package import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire
import Synchronization

/// Lends the browser of this machine to sign-ins of other agents (Docs/decisions/remote-sign-in.md).
///
/// Invariants: one at a time at each listener. Nothing is sent, and no browser is opened, before the user has agreed. Only
/// addresses of this agent's own providers are opened.
package final class LentSignIns: Sendable {
    /// The longest time for a request: for the question, for the user at the provider, and for what is sent there.
    package static let longest = AuthorizationAttempt.timeout + ConsentMachine.longestQuestion + .seconds(60)

    private let context: AgentContext
    private let clients: LentClients
    private let dependencies: SignInDependencies?
    private let browser: any BrowserOpening
    private let codes: ShownCodes
    private let showsNotices: @Sendable () -> Bool
    private let busy = Mutex<Set<ListenerName>>([])

    /// - Parameters:
    ///   - dependencies: what signing in with a browser needs; without them it is unsupported.
    ///   - desktop: shows the user a code to enter.
    package init(
        context: AgentContext, registry: SessionRegistry, dependencies: SignInDependencies?,
        browser: any BrowserOpening, desktop: any Notifier, showsNotices: @escaping @Sendable () -> Bool
    ) {
        (self.context, self.dependencies) = (context, dependencies)
        clients = LentClients(context: context, registry: registry)
        codes = ShownCodes(on: desktop, alarms: context.tasks.alarms)
        (self.browser, self.showsNotices) = (browser, showsNotices)
    }

    /// Checks that the settings and profiles allow the request, and reserves the listener's browser for it.
    /// - Throws: the reason if they do not; `busy` if the browser is in use.
    package func reserve(
        for call: LoginLend, at listener: ListenerName, by tables: StateBroadcast<ListenerTables>
    ) throws(AgentError) -> LendingTurn {
        guard dependencies != nil else { throw .cannotLend }
        _ = try LendAgreement(call, at: listener, by: tables, context.providers)
        guard busy.withLock({ $0.insert(listener).inserted }) else {
            throw AgentError(
                .busy, "Another sign-in uses the browser through this listener: wait for it, or cancel it.",
                cause: "sign_in_in_progress")
        }
        return LendingTurn { [weak self] in _ = self?.busy.withLock { $0.remove(listener) } }
    }

    /// A cancelled task closes the page. The browser's window stays.
    /// - Parameters:
    ///   - turn: the listener's. It ends when this returns.
    ///   - tables: the rules of the listeners. The sign-in ends when new ones would make another offer.
    ///   - confirm: asks the user.
    package func lend(
        _ call: LoginLend, in turn: LendingTurn, at listener: ListenerName, by tables: StateBroadcast<ListenerTables>,
        confirm: @Sendable (RemoteSignIn) async throws(AgentError) -> Void
    ) async throws(AgentError) -> LoginLent {
        defer { turn.end() }
        guard let dependencies else { throw .cannotLend }
        let agreement = try LendAgreement(call, at: listener, by: tables, context.providers)
        let offer = agreement.offer
        try await confirm(offer.question)
        // Settings and profiles may have changed meanwhile.
        try agreement.check()
        let client = try await clients.client(of: offer.profile)
        if offer.isDevice { return try await begin(agreement, as: client) }
        let server = try await converting(
            ProviderFailure.self, try await context.providers.server(of: offer.profile, at: context.clock.now()))
        let redirect = try await bindRedirect(for: offer, dependencies)
        guard let redirect else {
            throw AgentError(
                .unsupported,
                "The profile of \(offer.profile.title) on the machine with the browser redirects to a program, not to a "
                    + "page of authd: use --device or --paste.", cause: "redirect")
        }
        defer { redirect.listener.close() }
        guard redirect.fingerprint == nil else {
            throw AgentError(
                .unsupported,
                "The profile of \(offer.profile.title) on the machine with the browser redirects to an https page without a "
                    + "certificate of yours: set redirect_certificate and redirect_key there, or use --device.",
                cause: "redirect")
        }
        var attempt = try AuthorizationAttempt(
            lending: call, profile: offer.profile, oauth: offer.oauth, server: server,
            redirectURI: redirect.listener.redirectURI)
        try await dependencies.push(
            &attempt, at: offer.profile, server, as: client, context.providers, at: context.clock.now())
        try agreement.check()
        let query = try await visit(attempt, at: redirect.listener, by: agreement)
        return LoginLent(
            clientID: offer.oauth.clientID, scopes: offer.oauth.scopes, redirectURI: attempt.redirectURI, query: query)
    }

    // MARK: The browser

    /// - Throws: an error without details of this machine, such as paths and programs. These are logged here.
    private func bindRedirect(
        for offer: LendOffer, _ dependencies: SignInDependencies
    ) async throws(AgentError) -> BoundRedirect? {
        do throws(AgentError) {
            return try await dependencies.bindRedirect(for: offer.oauth, at: context.clock.now().wall)
        } catch {
            dependencies.note("The browser was not lent: " + error.message)
            throw AgentError(
                error.kind ?? .internal_,
                "The machine with the browser cannot open the page that \(offer.profile.title) redirects to. Its log says why: "
                    + "`journalctl --user -u authd` there. Or use --device or --paste.", cause: error.cause)
        }
    }

    /// - Returns: what the browser brought back.
    private func visit(
        _ attempt: AuthorizationAttempt, at listener: any RedirectListener, by agreement: LendAgreement
    ) async throws(AgentError) -> String {
        let end = context.clock.now().boot + AuthorizationAttempt.timeout
        return try await withTaskGroup(of: Result<String, AgentError>?.self) { group in
            group.addTask { [browser] in
                do throws(AgentError) {
                    try await browser.show(attempt.url)
                    // The page may be open for long after that.
                    return nil
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [self] in await receive(attempt, at: listener, by: agreement) }
            group.addTask { await agreement.ended().map { .failure($0) } }
            group.addTask { [clock = context.clock] in
                try? await clock.sleep(until: end)
                return .failure(AgentError(.timeout, "The browser did not return in time."))
            }
            defer { group.cancelAll() }
            for await result in group { if let result { return result } }
            return .failure(.stopping)
        }.get()
    }

    private func receive(
        _ attempt: AuthorizationAttempt, at listener: any RedirectListener, by agreement: LendAgreement
    ) async -> Result<String, AgentError>? {
        for await visit in listener.visits {
            switch attempt.read(visit.query) {
            case .unrelated: visit.show(.unrelated)
            case .refused(let error):
                visit.show(.failed(error.message))
                return .failure(error)
            case .code:
                do throws(AgentError) {
                    try agreement.check()
                } catch {
                    visit.show(.failed(error.message))
                    return .failure(error)
                }
                visit.show(.lent)
                return .success(visit.query)
            }
        }
        return nil
    }

    // MARK: A code for the user

    private func begin(_ agreement: LendAgreement, as client: OAuthClient) async throws(AgentError) -> LoginLent {
        let (offer, listener, now) = (agreement.offer, agreement.listener, context.clock.now())
        let device = try await converting(
            ProviderFailure.self,
            try await context.providers.beginDevice(at: offer.profile, as: client, sentAt: now))
        try agreement.check()
        // The request ends here, but the user still needs the notification and the page.
        let latest = now.boot + min(device.lifetime, AuthorizationAttempt.timeout)
        if showsNotices(), let notice = Notice.code(device, offer.question, at: listener) {
            codes.show(notice, at: listener, until: latest)
        }
        // If it fails, the user can open the address, which the other machine shows.
        context.tasks.pool.order { [browser, clock = context.clock] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await browser.show(device.completeURI ?? device.verificationURI) }
                group.addTask { try? await clock.sleep(until: latest) }
                await group.next()
                group.cancelAll()
            }
        }
        return LoginLent(clientID: offer.oauth.clientID, scopes: offer.oauth.scopes, device: device.json)
    }
}

extension AgentError {
    fileprivate static let cannotLend = AgentError(.unsupported, "This agent has no browser to lend.")
}
