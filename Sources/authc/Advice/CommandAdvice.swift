import AuthWire

/// What to try after an error from the agent, if that depends on the command line or the agent.
enum CommandAdvice {
    /// The user waits for the error.
    private static let timeout = Duration.seconds(1)

    /// - Parameter words: the command line, without the program's name.
    /// - Returns: `nil` if the error itself says what to try.
    static func hint(for failure: Failure, _ words: [String], _ options: Options) -> String? {
        guard let error = failure.agentError else { return nil }
        switch error.kind {
        case .keyringUnavailable where error.cause == "missing": return info(options).map { NextStep.noKeyring($0) }
        case .internal_ where !error.message.contains("`"): return info(options).map { NextStep.internalError($0) }
        default: break
        }
        guard !error.message.contains("`") else { return nil }
        let path = VerbCheck.path(GlobalOptions.afterVerb(words), Authc.self)
        guard let verb = path.first else { return nil }
        if let hint = failure.hint { return hint == NextStep.after(error) ? named(error, verb, options) : nil }
        switch error.kind {
        case .providerError, .validation, .notFound, .conflict, .tooLarge, .unsupported: break
        default: return nil
        }
        if verb == "cluster", error.kind == .unsupported { return cluster }
        if verb == "request" || verb == "call" {
            if error.kind == .tooLarge { return "`--output FILE` writes a response of any size to a file" }
            let isAboutRequest = error.httpStatus != nil || error.kind == .notFound || error.cause == "arguments"
            if isAboutRequest, let provider = provider(options) { return provider }
        }
        // What is listed is what to correct.
        return error.details.isEmpty ? "`\(CommandText.authc(path + ["--help"]))` describes the command" : nil
    }

    /// The usual hint, with the command that was typed, or with the session and its provider.
    private static func named(_ error: AgentError, _ verb: String, _ options: Options) -> String? {
        switch error.kind {
        case .unknownEndpoint: return provider(options)
        case .refused where ["login", "register", "password"].contains(verb):
            return NextStep.after(error, typed: TypedCommand.again())
        case .refused, .notSignedIn, .signInRequired: break
        default: return nil
        }
        // The hint does not name a sign-in: another one would not help.
        guard NextStep.after(error) != NextStep.after(error, login: "") else { return nil }
        var quick = options
        quick.timeout = timeout
        guard let agent = try? quick.connect(),
            let status = try? agent.call(SessionStatusGet(SessionParams(session: quick.chosenSession()))).value
        else { return nil }
        return NextStep.after(error, login: CommandText.login(status.provider, session: status.session))
    }

    private static let cluster =
        "set [etcd] first, see authd.toml(5); then `authc store migrate --to etcd` shares the sessions with other hosts"

    private static func info(_ options: Options) -> AgentInfo? {
        var quick = options
        quick.timeout = timeout
        return try? quick.connect().call(AgentInfoGet()).value
    }

    /// The command that shows the provider of the session, and its endpoints if its profile lists any.
    private static func provider(_ options: Options) -> String? {
        var quick = options
        quick.timeout = timeout
        guard let agent = try? quick.connect(),
            let detail = try? EndpointInfo.provider(of: quick.chosenSession(), agent)
        else { return nil }
        let command = ["provider", "show", detail.name]
        if detail.endpoints.isEmpty { return "`\(CommandText.authc(command))` shows the provider" }
        return "`\(CommandText.authc(command + ["--endpoints"]))` shows the endpoints"
    }
}
