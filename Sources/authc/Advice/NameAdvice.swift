import AuthConnection
import AuthWire

/// What to do about a session or provider that the agent does not know: use the name that was meant, sign in, or add a
/// profile.
enum NameAdvice {
    /// The user waits for the error.
    private static let timeout = Duration.seconds(1)

    /// - Parameter words: the command line, in which the unknown name is.
    /// - Returns: `nil` for any other error, or if there is no sign-in, no profile and no similar name.
    static func hint(for failure: Failure, _ words: [String], _ options: Options) -> String? {
        guard let error = failure.agentError,
            let unknown = words.flatMap(values).last(where: { error.message.hasName($0) })
        else { return nil }
        var quick = Options(timeout: timeout)
        quick.socket = options.socket
        return switch error.kind {
        case .unknownSession where words.contains("logout"): meant(unknown, among: KnownNames.sessions(quick))
        case .unknownSession:
            signIn(unknown, quick) ?? profile(unknown, options)
                ?? meant(unknown, among: KnownNames.sessions(quick))
        case .unknownProvider:
            profile(unknown, options) ?? meant(unknown, among: KnownNames.providers(quick)) ?? starter(unknown)
                ?? (words.contains("login") ? address(unknown) : nil)
        default: nil
        }
    }

    /// A question about the most similar of some words; `nil` if none is similar.
    static func meant(_ unknown: String, among known: [String]) -> String? {
        Suggestion.nearest(to: unknown, among: known).map { "did you mean \($0)?" }
    }

    /// Refuses a session that does not exist if one with a similar name does. For commands that do not ask the agent
    /// for the session themselves. If the agent does not answer, nothing is refused.
    static func check(_ session: SessionName, _ options: Options) throws(Failure) {
        var quick = Options(timeout: timeout)
        quick.socket = options.socket
        let known = KnownNames.sessions(quick)
        guard !known.contains(session.text), let hint = meant(session.text, among: known) else { return }
        throw Failure(
            status: ExitStatus(.unknownSession), kind: ErrorKind.unknownSession.rawValue,
            message: "there is no session named \(session)",
            hint: "\(hint) If not, sign in first: `\(CommandText.login(nil, session: session))`")
    }

    /// The sign-in that creates the session: a provider has its name, or an environment of only one provider.
    private static func signIn(_ name: String, _ options: Options) -> String? {
        guard let session = try? SessionName(name), let agent = try? options.connect(),
            let providers = try? agent.call(ProviderListGet()).value.providers
        else { return nil }
        if providers.contains(where: { $0.name == name }) { return signIn(session, agent) }
        let owners = providers.filter { $0.environments.contains(name) }
        return owners.count == 1 ? signIn(to: owners[0].name, environment: session, agent) : nil
    }

    /// The session gets the provider's name, unless a variable names another one.
    private static func signIn(_ session: SessionName, _ agent: Agent) -> String? {
        let provider = session.text
        guard let detail = try? agent.call(ProviderShow(ProviderParams(provider: provider))).value else { return nil }
        let isExample = detail.environments.contains { $0.isDefault && DescriptionURL.isExample($0.url) }
        let variable = environmentValue("AUTHD_SESSION") ?? ""
        let named = variable.isEmpty || variable == provider ? nil : session
        // Without a name, it asks for the address.
        return "sign in first: `\(CommandText.login(isExample ? nil : provider, session: named))`"
    }

    /// The session gets the environment's name.
    private static func signIn(to provider: String, environment: SessionName, _ agent: Agent) -> String? {
        let name = environment.text
        guard let detail = try? agent.call(ProviderShow(ProviderParams(provider: provider))).value,
            !detail.environments.contains(where: { $0.name == name && DescriptionURL.isExample($0.url) })
        else { return nil }
        return "sign in first: `\(CommandText.login(provider, session: environment, environment: name))`"
    }

    /// The command that makes the provider known.
    private static func profile(_ name: String, _ options: Options) -> String? {
        if ProfileFile.isWritten(name) { return "its profile is not loaded: `authc reload` loads it" }
        guard let starter = Starter.named(name) else { return nil }
        // On a terminal, it asks for the values.
        let words = [starter.name] + (options.canPrompt ? [] : starter.placeholders)
        return
            "\(starter.title) is a known provider: `authc provider add \(words.joined(separator: " "))` writes its profile"
    }

    private static func starter(_ unknown: String) -> String? {
        Suggestion.nearest(to: unknown, among: Starter.names).map {
            "did you mean \($0)? `authc provider add \($0)` writes its profile"
        }
    }

    /// The URL that was meant, if only its scheme is missing.
    private static func address(_ text: String) -> String? {
        let url = "https://" + text
        guard ServerAddress.problem(of: url, allowsQuery: false) == nil, let host = DescriptionURL(url)?.host,
            host.contains(".")
        else { return nil }
        return "did you mean `\(CommandText.login(url))`?"
    }

    /// The word itself, and the value of an option in it: `--session=NAME`, `-s=NAME`.
    private static func values(in word: String) -> [String] {
        guard word.hasPrefix("-") else { return [word] }
        return word.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
    }

    /// The options of a command whose value is one of some words.
    static func refusal<Word: CaseIterable & RawRepresentable<String>>(of text: String, _: Word.Type) -> String {
        refusal(of: text, Word.allCases.map(\.rawValue))
    }

    static func refusal(of text: String, _ words: [String]) -> String { Suggestion.refusal(of: text, among: words) }
}

extension String {
    fileprivate func hasName(_ name: String) -> Bool {
        guard !name.isEmpty, let found = firstRange(of: " named \(name)") else { return false }
        return self[found.upperBound...].first.map { ":;., ".contains($0) } ?? true
    }
}
