import AuthConnection
import AuthFiles
import AuthWire

/// Names for a shell's completion, from the agent; none without an agent.
enum KnownNames {
    /// The user waits for the completion.
    private static let timeout = Duration.seconds(1)
    private static let options = Options(timeout: timeout)

    static func sessions(_ options: Options = options) -> [String] {
        let list = try? options.connect().call(SessionListGet()).value
        return list?.sessions.map(\.session.text) ?? []
    }

    static func providers(_ options: Options = options) -> [String] {
        let list = try? options.connect().call(ProviderListGet()).value
        return list?.providers.map(\.name) ?? []
    }

    static func sessions(_ line: CompletionLine) -> [String] { sessions(options(for: line)) }

    static func providers(_ line: CompletionLine) -> [String] { providers(options(for: line)) }

    /// The environments of the provider on the line.
    static func environments(_ line: CompletionLine) -> [String] {
        namedProvider(line)?.environments.map(\.name) ?? []
    }

    /// The sign-in methods of the provider on the line.
    static func methods(_ line: CompletionLine) -> [String] { namedProvider(line)?.methods.map(\.name) ?? [] }

    static func fields(_ line: CompletionLine) -> [String] { fields(line, areSecret: false) }

    static func secretFields(_ line: CompletionLine) -> [String] { fields(line, areSecret: true) }

    /// The endpoints of the chosen session's provider.
    static func endpoints(_ line: CompletionLine) -> [String] {
        provider(line)?.endpoints.map(\.name) ?? []
    }

    /// The arguments of the endpoint on the line, and the values of one that is being typed.
    static func arguments(_ line: CompletionLine) -> [String] {
        guard let endpoint = endpoint(line) else { return [] }
        guard let typed = line.assignment else {
            return line.assignments(endpoint.args.filter { !$0.secret }.map(\.name))
        }
        switch endpoint.args.first(where: { $0.name == typed.name })?.type {
        case .boolean: return typed.completed(["true", "false"])
        case .file: return typed.completed(KnownPrograms.files(String(typed.value.drop { $0 == "@" })).map { "@" + $0 })
        default: return []
        }
    }

    static func secretArguments(_ line: CompletionLine) -> [String] {
        guard line.assignment == nil, let endpoint = endpoint(line) else { return [] }
        return line.assignments(endpoint.args.filter(\.secret).map(\.name))
    }

    /// The paths of the chosen session's API that have no places to fill in, for the method on the line.
    static func paths(_ line: CompletionLine) -> [String] {
        let typed = Set(line.words.map { $0.uppercased() })
        let paths = provider(line)?.endpoints.filter { typed.contains($0.method) && !$0.path.contains("{") }.map(\.path)
        return Array(Set(paths ?? [])).sorted()
    }

    /// The origins that the sessions' tokens belong to.
    static func origins(_ line: CompletionLine) -> [String] {
        let options = options(for: line)
        guard let agent = try? options.connect(), let list = try? agent.call(SessionListGet()).value else { return [] }
        let origins = list.sessions.flatMap { status -> [String] in
            let params = ProviderParams(provider: status.provider)
            guard let detail = try? agent.call(ProviderShow(params)).value else { return [] }
            let environments = detail.environments.filter { status.environment == nil || $0.name == status.environment }
            let hosts = (detail.hosts ?? []).filter { $0.environment == nil || $0.environment == status.environment }
            return (environments.map(\.url) + hosts.map(\.url)).compactMap(origin)
        }
        return Array(Set(origins)).sorted()
    }

    /// The same, without the scheme.
    static func hosts(_ line: CompletionLine) -> [String] {
        origins(line).map { String($0.drop { $0 != "/" }.dropFirst(2)) }
    }

    /// The scopes of the chosen session.
    static func scopes(_ line: CompletionLine) -> [String] { status(line)?.scopes ?? [] }

    /// The scopes of all sessions at the provider on the line.
    static func providerScopes(_ line: CompletionLine) -> [String] {
        let list = try? options(for: line).connect().call(SessionListGet()).value
        let others = Set(line.words.enumerated().filter { $0.offset != line.index }.map(\.element))
        let scopes = (list?.sessions ?? []).filter { others.contains($0.provider) }.flatMap { $0.scopes ?? [] }
        return Array(Set(scopes)).sorted()
    }

    /// The other hosts of the cluster, each as `cluster forget` accepts it.
    static func clusterHosts(_ line: CompletionLine) -> [String] {
        guard let status = try? options(for: line).connect().call(ClusterStatusGet()).value else { return [] }
        return status.hosts.filter { !$0.isThis }.map { ClusterStatusText.name(of: $0.id, in: status) }
    }

    static func listeners(_ line: CompletionLine) -> [String] { listeners(try? options(for: line).connect()) }

    /// Where programs can reach every agent, and the sockets with names of the user's choice.
    static func listeners(_ agent: Agent?) -> [String] {
        let usual = ["api", "extra", "dbus"]
        let named = (try? agent?.call(AgentInfoGet()).value.listeners) ?? []
        return usual + named.filter { !usual.contains($0) }
    }

    /// What `login --from` accepts: the names of forwarded sockets, or a path.
    static func lenders(_ line: CompletionLine) -> [String] {
        line.prefix.hasPrefix("/") ? KnownPrograms.files(line.prefix) : BrowserLender.names
    }

    /// The programs of the local HTTP endpoint.
    static func clients() -> [String] {
        let names = try? EndpointFolder(environment: environmentValue)?.names()
        return (names ?? []).map(\.text)
    }

    static func outbox(_ line: CompletionLine) -> [String] {
        let options = options(for: line)
        let params = OutboxParams(session: (try? options.namedSession()) ?? nil)
        return (try? options.connect().call(OutboxListGet(params)).value)?.entries.map(\.id) ?? []
    }

    /// The values of `NAME=VALUE,NAME=VALUE`.
    static func tokenVariables(_ line: CompletionLine) -> [String] {
        guard let equals = line.prefix.lastIndex(of: "=") else { return [] }
        return TokenValue.allCases.map { line.prefix[...equals] + $0.rawValue }
    }

    // MARK: The agent's answers

    private static func options(for line: CompletionLine) -> Options {
        var options = Options(timeout: timeout)
        options.session = line.value(of: ["-s", "--session"])
        options.socket = line.value(of: ["--socket"])
        return options
    }

    private static func detail(_ name: String, _ agent: Agent) -> ProviderDetail? {
        try? agent.call(ProviderShow(ProviderParams(provider: name))).value
    }

    private static func status(_ line: CompletionLine) -> SessionStatus? {
        let options = options(for: line)
        // Without a rule, the agent chooses.
        let session = (try? options.chosenSession()) ?? nil
        return try? options.connect().call(SessionStatusGet(SessionParams(session: session))).value
    }

    /// The provider of the chosen session.
    private static func provider(_ line: CompletionLine) -> ProviderDetail? {
        guard let status = status(line), let agent = try? options(for: line).connect() else { return nil }
        return detail(status.provider, agent)
    }

    /// The provider that the line names.
    private static func namedProvider(_ line: CompletionLine) -> ProviderDetail? {
        guard let agent = try? options(for: line).connect(), let list = try? agent.call(ProviderListGet()).value else {
            return nil
        }
        let known = Set(list.providers.map(\.name))
        let others = line.words.enumerated().filter { $0.offset != line.index }.map(\.element)
        return others.first(where: known.contains).flatMap { detail($0, agent) }
    }

    private static func endpoint(_ line: CompletionLine) -> EndpointInfo? {
        let typed = Set(line.words)
        return provider(line)?.endpoints.first { typed.contains($0.name) }
    }

    /// The fields of a sign-in to the provider on the line, or of a change of the chosen session's password.
    private static func fields(_ line: CompletionLine, areSecret: Bool) -> [String] {
        guard line.assignment == nil else { return [] }
        let isPassword = line.words.contains("password")
        guard let detail = namedProvider(line) ?? (isPassword ? provider(line) : nil) else { return [] }
        let methods = isPassword ? detail.password : detail.methods
        let verb = methods.filter { method in
            line.words.contains(method.name) || line.words.contains(method.name.replacing("_", with: "-"))
        }
        var names: [String] = []
        for field in (verb.isEmpty ? methods : verb).flatMap({ $0.fields + ($0.later ?? []) })
        where field.secret == areSecret && !names.contains(field.name) {
            names.append(field.name)
        }
        return line.assignments(names)
    }

    private static func origin(_ url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        return String(url[..<scheme.upperBound] + url[scheme.upperBound...].prefix { $0 != "/" })
    }
}
