import AuthConnection
import AuthWire
import CommandArguments
import Glibc

/// `authc login` without a provider: offers what there is to sign in to, and makes the profile that it needs.
struct FirstSignIn {
    /// What `authc login` continues with.
    struct Target {
        /// Or a URL.
        let provider: String
        var environment: String?
    }

    private enum Choice {
        case own(ProviderSummary)
        case url, starter, description, bundled
    }

    private static let bundled = "bundled"
    /// The first environment that is added to a bundled profile. The next ones are `mine-2` and so on.
    private static let environment = "mine"

    private let options: Options
    private let providers: [ProviderSummary]

    static func run(_ options: Options) throws(Failure) -> Target {
        let first = FirstSignIn(
            options: options, providers: try options.connect().call(ProviderListGet()).value.providers)
        guard options.canPrompt else { throw first.missingProvider }
        return try first.choose()
    }

    private var own: [ProviderSummary] { providers.filter { $0.source != Self.bundled } }
    private var bundledNames: [String] { providers.filter { $0.source == Self.bundled }.map(\.name) }

    /// Without a terminal: the commands.
    private var missingProvider: Failure {
        var lines = own.map { "`\(CommandText.login($0.name))` signs in to \($0.title)" }
        lines += [
            "`authc login URL` signs in to an MCP server or another resource that describes its sign-in",
            "`authc provider add --list` lists known providers, such as GitHub",
            "`authc provider add github --client-id ID` writes the profile of one",
            "`authc provider new NAME --openapi FILE` writes one from the description of an API",
            "`authc provider list` lists the profiles that are there: \(bundledNames.joined(separator: ", "))",
            "`authc try` shows everything without a provider",
        ]
        let reason = options.noInput ? "--no-input forbids questions" : "there is no terminal to ask on"
        return .usage("no provider is named, and \(reason)", hint: lines.joined(separator: "\n  "))
    }

    // MARK: On a terminal

    private func choose() throws(Failure) -> Target {
        let choices = own.map(Choice.own) + [.url, .starter, .description] + (bundledNames.isEmpty ? [] : [.bundled])
        Output.note("What do you want to sign in to?")
        let screen = Screen.of(STDERR_FILENO)
        for (index, choice) in choices.enumerated() {
            let lines = Layout.wrapped(Visible.line(label(choice)), on: screen, indent: 5)
            Output.note(Layout.padded("  \(index + 1)", to: 5) + lines.joined(separator: "\n     "))
        }
        func chosen(_ answer: String) -> Choice? {
            Int(answer).flatMap { choices.indices.contains($0 - 1) ? choices[$0 - 1] : nil }
        }
        let answer = try ask("Number, name or URL") { answer in
            if SignInRequestOptions.isURL(answer) { return ServerAddress.problem(of: answer, allowsQuery: true) }
            return chosen(answer) != nil || isKnown(answer) ? nil : "That is not one of them."
        }
        try checkStore()
        if let choice = chosen(answer) { return try target(of: choice) }
        return try target(named: answer)
    }

    /// Before the answers change any file: without a store, the sign-in would fail in the end.
    private func checkStore() throws(Failure) {
        // If the agent does not answer, the sign-in itself reports what is wrong.
        guard let store = try? options.connect().call(AgentInfoGet()).value.store else { return }
        let error: AgentError? =
            switch store.state {
            case .locked where store.kind.isSealed:
                AgentError(.keyringLocked, "Nothing was changed: the session store is locked.")
            case .failed where store.kind.isSealed:
                AgentError(
                    .keyringUnavailable,
                    "Nothing was changed: the session store failed" + (store.message.map { ": " + $0 } ?? "."))
            case .missing:
                AgentError(
                    .keyringUnavailable, "Nothing was changed: there is no keyring for your sessions.", cause: "missing"
                )
            default: nil
            }
        if let error { throw Failure(error) }
    }

    private func label(_ choice: Choice) -> String {
        switch choice {
        case .own(let provider): "\(provider.name): \(provider.title)"
        case .url: "a URL: an MCP server, or another resource that describes its sign-in"
        case .starter: "a known provider: \(Starter.all.map(\.name).joined(separator: ", "))"
        case .description: "an API with an OpenAPI or Swagger description"
        case .bundled: "a server of a bundled profile: \(bundledNames.joined(separator: ", "))"
        }
    }

    private func target(of choice: Choice) throws(Failure) -> Target {
        switch choice {
        case .own(let provider): return Target(provider: provider.name)
        case .url:
            return Target(provider: try ask("URL") { ServerAddress.problem(of: $0, allowsQuery: true) })
        case .starter:
            let names = Starter.all.map(\.name)
            return try add(
                ask("Known provider") { answer in
                    Starter.named(answer) == nil ? NameAdvice.refusal(of: answer, names) : nil
                })
        case .description: return try describe()
        case .bundled:
            let names = bundledNames
            return try place(
                ask("Profile") { names.contains($0) ? nil : NameAdvice.refusal(of: $0, names) })
        }
    }

    private func isKnown(_ name: String) -> Bool {
        providers.contains { $0.name == name } || Starter.named(name) != nil || ProfileFile.isWritten(name)
    }

    /// - Parameter answer: a known name, or a URL.
    private func target(named answer: String) throws(Failure) -> Target {
        if SignInRequestOptions.isURL(answer) || own.contains(where: { $0.name == answer }) {
            return Target(provider: answer)
        }
        if bundledNames.contains(answer) { return try place(answer) }
        if let starter = Starter.named(answer) { return try add(starter.name) }
        return try loaded(answer)
    }

    // MARK: The profiles

    private func add(_ name: String) throws(Failure) -> Target {
        let name = Starter.named(name)?.name ?? name
        // It was written earlier.
        if own.contains(where: { $0.name == name }) { return Target(provider: name) }
        if !ProfileFile.isWritten(name) { try parsed(ProviderAdd.self, [name]).runInLogin(plain) }
        return try loaded(name)
    }

    private func describe() throws(Failure) -> Target {
        let file = Self.path(
            try ask("File of the description") { answer in
                do throws(Failure) {
                    _ = try FileText.read(Self.path(answer), atMost: ProviderNew.longestDescription)
                    return nil
                } catch { return error.message }
            })
        let name = try ask("Short name for it") { answer in
            guard (try? SessionName(answer)) != nil else { return "use \(SessionName.rule)" }
            let isKnown = ProfileFile.isWritten(answer) || providers.contains { $0.name == answer }
            return isKnown ? "there is a profile \(answer) already: choose another name" : nil
        }
        try parsed(ProviderNew.self, ["--openapi", file, "--", name])
            .runInLogin(writingTo: try ProfileFile.usualPath(of: name), plain)
        return try loaded(name)
    }

    /// The addresses in bundled profiles are examples, except for those of this machine.
    private func place(_ name: String) throws(Failure) -> Target {
        let detail = try options.connect().call(ProviderShow(ProviderParams(provider: name))).value
        let real = detail.environments.filter { !DescriptionURL.isExample($0.url) }
        for environment in real { Output.note(Visible.line("  \(environment.name): \(environment.url)")) }
        let answer = try ask("Address of its API" + (real.isEmpty ? "" : ", or one of these names")) { answer in
            real.contains { $0.name == answer } ? nil : ServerAddress.problem(of: answer, allowsQuery: false)
        }
        if let known = real.first(where: { $0.name == answer || Self.isSame($0.url, answer) }) {
            return Target(provider: name, environment: known.name)
        }
        let environment = Self.freeName(besides: detail.environments.map(\.name))
        var settings = [(key: "providers.\(name).environments.\(environment)", values: [answer])]
        // Otherwise the next `authc login NAME` would send the password to an example's address.
        if detail.environments.first(where: \.isDefault).map({ DescriptionURL.isExample($0.url) }) ?? true {
            settings.append(("providers.\(name).default_environment", [environment]))
        }
        _ = try SettingsChange(file: try SettingsFile(named: nil), options: plain).set(settings)
        return Target(provider: name, environment: environment)
    }

    /// Sessions of an environment that is there keep their address.
    private static func freeName(besides names: [String]) -> String {
        var (name, number) = (environment, 1)
        while names.contains(name) {
            number += 1
            name = "\(environment)-\(number)"
        }
        return name
    }

    /// A slash at the end makes no difference.
    private static func isSame(_ url: String, _ other: String) -> Bool {
        OpenAPIDocument.withoutEndingSlash(url) == OpenAPIDocument.withoutEndingSlash(other)
    }

    /// `~/` is expanded, as a shell does. The result is not an option, and not `-` for stdin.
    private static func path(_ answer: String) -> String {
        if answer.hasPrefix("~/"), let home = environmentValue("HOME") { return home + answer.dropFirst() }
        return answer.hasPrefix("-") ? "./" + answer : answer
    }

    private func loaded(_ name: String) throws(Failure) -> Target {
        _ = try options.connect().call(AgentReload())
        return Target(provider: name)
    }

    /// The options for the commands that this one runs: their output is for the user.
    private var plain: Options {
        var options = options
        options.json = false
        return options
    }

    private func parsed<Command: AgentCommand>(_: Command.Type, _ words: [String]) throws(Failure) -> Command {
        guard case .command(let command as Command)? = try? CommandParser.parse(words, root: Command.self) else {
            throw .internalError("cannot run \(Command.configuration.commandName)")
        }
        return command
    }

    /// - Parameter problem: why the answer is not accepted; `nil` if it is.
    private func ask(_ question: String, _ problem: (String) -> String? = { _ in nil }) throws(Failure) -> String {
        let repeated = RepeatedQuestion(
            text: question, cancelled: "the sign-in was cancelled", hint: "`authc login` asks again")
        return try repeated.ask { answer throws(Failure) in
            if let problem = problem(answer) { throw .usage(problem) }
            return answer
        }
    }
}
