import AuthWire

/// What to try after an error of the agent: a command that runs as shown, wherever there is one.
enum NextStep {
    /// - Parameters:
    ///   - login: the command that signs in to the session, if it is known.
    ///   - typed: the command to repeat, if its answers were refused.
    /// - Returns: `nil` if the error's message names a command, or says all that can be done.
    static func after(_ error: AgentError, login: String? = nil, typed: String? = nil) -> String? {
        guard !error.message.contains("authc ") else { return nil }
        let login = "`\(login ?? CommandText.login(nil))`"
        let again = error.retryAfter.map { "try again in \(Span.text($0))" }
        return switch error.kind {
        case .notSignedIn, .signInRequired: "sign in: \(login)"
        case .keyringLocked, .keyringUnavailable, .agentLocked: store(error)
        case .unknownSession: "`authc list` shows the sessions"
        case .unknownProvider, .unknownEndpoint: "`authc provider list` shows the providers"
        case .offline, .captivePortal, .providerUnreachable, .badReply: joined(again, network(error))
        case .providerError where error.retryable:
            joined(again ?? "try again later", "`authc network` shows whether the provider responds")
        case .rateLimited: again ?? "try again later"
        case .timeout: again ?? "try again, or set a longer --timeout"
        case .busy: again ?? "try again in a moment"
        case .refused where error.cause == "passphrase": again ?? "try again with another passphrase"
        case .refused where error.cause == "token_refused": joined(again, account)
        // The messages say what to do, and another sign-in would not help.
        case .refused where error.cause == "body_once" || isForAnotherAPI(error): again
        case .refused:
            joined(
                again, "check what was entered; " + (typed.map { "`\($0)` tries again" } ?? "\(login) signs in again"))
        case .forbidden: joined(again, account)
        case .denied: denied(error, again)
        case .notFound where error.cause == "not_kept": "without `--cache only`, the request is sent"
        case .unsupported where error.code == AgentError.methodNotFound("").code:
            "`authc version` shows whether the agent is older than authc"
        case .internal_ where error.message.contains("`"): again
        case .internal_: internalError(nil)
        // What to try depends on the command line: see ``CommandAdvice``.
        case .providerError, .validation, .notFound, .conflict, .tooLarge, .unsupported, nil: again
        }
    }

    /// - Parameter info: `nil`: nothing is known about the agent.
    static func noKeyring(_ info: AgentInfo?) -> String {
        """
        without a keyring, use sealed files: `authc config set store sealed-file`, then \
        \(RestartAdvice.commands(info)), then `authc store unlock`; otherwise start the keyring (gnome-keyring, \
        KWallet, KeePassXC), or run `authc store unlock`
        """
    }

    /// - Parameter info: `nil`: nothing is known about the agent.
    static func internalError(_ info: AgentInfo?) -> String {
        "the log of authd shows what happened: \(AgentAdvice.log(info))"
    }

    private static let account = "`authc whoami` shows the account, and `authc status` what it may do"

    /// The API names the server that issues tokens for it.
    private static func isForAnotherAPI(_ error: AgentError) -> Bool {
        error.details.contains { $0.hasPrefix("resource_metadata: ") }
    }

    private static func store(_ error: AgentError) -> String {
        switch (error.kind, error.cause) {
        case (.agentLocked, _): "unlock it: `authc unlock`"
        case (.keyringLocked, "keyring_waiting"): "answer its dialog; `authc doctor` shows which program asks"
        case (.keyringLocked, _): "unlock it: `authc store unlock`; authd then continues by itself"
        case (_, "missing"): noKeyring(nil)
        default: "`authc doctor` shows the state of the store, and what to do"
        }
    }

    private static func network(_ error: AgentError) -> String {
        switch error.kind {
        case .offline: "`authc wait --until online` waits for a network; `authc doctor` shows what is missing"
        case .captivePortal: "open the network's page: `xdg-open http://example.com`; authd continues by itself"
        case .badReply: "`authc doctor` checks the network, from which the answer may come"
        default: "`authc doctor` looks for the cause"
        }
    }

    private static func denied(_ error: AgentError, _ again: String?) -> String? {
        guard error.cause == "other_origin" else {
            return again ?? error.cause.map { _ in "`authc log` shows what was denied, and by which rule" }
        }
        // The details name the session that belongs there.
        guard error.details.isEmpty else { return nil }
        guard let origin = requested(error.message) else { return "`authc list` shows the sessions; -s names one" }
        return "sign in there: `\(CommandText.login(origin))`"
    }

    /// The origin in the message of a token that belongs elsewhere.
    private static func requested(_ message: String) -> String? {
        guard let start = message.firstRange(of: ", not for "), message.hasPrefix("The token ") else { return nil }
        let rest = message[start.upperBound...]
        guard let end = rest.firstRange(of: ". ") else { return nil }
        return String(rest[..<end.lowerBound])
    }

    private static func joined(_ parts: String?...) -> String { parts.compactMap(\.self).joined(separator: "; ") }
}
