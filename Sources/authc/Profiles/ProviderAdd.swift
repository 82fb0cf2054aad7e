import AuthConnection
import AuthWire
import CommandArguments
import Glibc

struct ProviderAdd: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Write a profile for a known provider, or for any OAuth issuer.",
        discussion: """
            `authc provider add --list` lists the known providers. Register a client there first: `authc provider add NAME` \
            says what to register and where. The profile is written to ~/.config/authd/providers/NAME.toml, and the agent \
            loads it. If the agent's user unit is installed but not running, its socket is started.
            """)

    @OptionGroup var common: AskingOptions

    @Argument(
        help: "A known provider, or the https address of an OAuth issuer.",
        completion: .list(Starter.all.map(\.name)))
    var provider: String?

    @Flag(help: "List the known providers.")
    var list = false

    @Option(help: ArgumentHelp("The client ID that the provider assigned.", valueName: "id"), completion: .nothing)
    var clientId: String?

    @Option(help: ArgumentHelp("Your host or domain at the provider.", valueName: "host"), completion: .nothing)
    var host: String?

    @Option(
        help: ArgumentHelp("Your tenant's ID (Microsoft), common or organizations.", valueName: "uuid"),
        completion: .nothing)
    var tenant: String?

    @Option(help: ArgumentHelp("Your realm (Keycloak).", valueName: "realm"), completion: .nothing)
    var realm: String?

    @Option(help: ArgumentHelp("The identifier of the API (Auth0).", valueName: "url"), completion: .nothing)
    var audience: String?

    @Option(
        help: ArgumentHelp("A scope to request, instead of the usual ones. May be repeated.", valueName: "scope"),
        completion: .nothing)
    var scope: [String] = []

    @Option(
        help: ArgumentHelp("The port of the redirect URI, if it has one.", valueName: "number"), completion: .nothing)
    var port: Int?

    @Option(
        help: ArgumentHelp("The profile's name, if it is not the provider's.", valueName: "name"), completion: .nothing)
    var name: String?

    @Option(
        name: [.short, .long], help: ArgumentHelp("Write to this file; - is stdout.", valueName: "file"),
        completion: .file)
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    func validate() throws(ValidationError) {
        guard list != (provider != nil) else {
            throw ValidationError("Name a provider or an issuer, or use --list.")
        }
        guard port.map((1...65535).contains) ?? true else {
            throw ValidationError("--port: use a number from 1 to 65535.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard let provider else { return try Self.showList(options) }
        let profile = try profile(of: provider, options)
        if output == nil { AgentStart.ifNeeded(options) }
        if output == "-" {
            try Output.raw(profile.text)
            return .done
        }
        let path = try path(of: profile.name)
        let isChecked = try write(profile.text, to: path, options)
        let outcome = output == nil ? SettingsReload.run(options) : nil
        let isLoaded = outcome?.isOnly(profile: profile.name) ?? false
        if !options.json { Output.note(Visible.line("\(path): written\(isLoaded ? " and loaded" : "").")) }
        var json: JSONObject = ["provider": .string(profile.name), "path": .string(path)]
        if let outcome, options.json || !isLoaded {
            SettingsReload.report(outcome, of: nil, &json, asJSON: options.json)
        }
        if options.json { return try Output.jsonResult(.object(json)) }
        adviseNext(profile.name, at: path, isChecked: isChecked, isNamed: outcome == nil)
        return .done
    }

    /// - Parameter isNamed: whether the user has named the file. Then the agent has not loaded it.
    private func adviseNext(_ name: String, at path: String, isChecked: Bool, isNamed: Bool) {
        let steps =
            if isNamed {
                (ProfileFile.isInPlace(path) ? "" : "put the file in \(ProfileFile.usualFolder), ")
                    + "load the profile and sign in"
            } else if isChecked {
                "sign in"
            } else {
                "check the profile and sign in"
            }
        Output.note(Visible.line("Then \(steps):"))
        var commands = isChecked ? [] : [CommandText.authc(["provider", "check", path])]
        if isNamed { commands.append(CommandText.authc(["reload"])) }
        for command in commands + [CommandText.login(name)] {
            Output.command("  " + AdvisedCommands.command(Visible.line(command)))
        }
    }

    /// The part of `authc login`, which then loads the profile and signs in.
    func runInLogin(_ options: Options) throws(Failure) {
        guard let provider else { return }
        let profile = try profile(of: provider, options)
        let path = try ProfileFile.usualPath(of: profile.name)
        _ = try write(profile.text, to: path, options)
        Output.note(Visible.line("\(path): written."))
    }

    /// - Returns: whether the agent has checked it. Without an agent the file is written unchecked.
    private func write(_ profile: String, to path: String, _ options: Options) throws(Failure) -> Bool {
        var isChecked = false
        do throws(Failure) {
            try Self.check(profile, at: path, options)
            isChecked = true
        } catch {
            guard error.status == .noAgent else { throw error }
        }
        try ProfileFile.write(profile, to: path, replacing: force, ifExists: Self.existsHint)
        return isChecked
    }

    private static let existsHint = "use --force to replace it, or --name for another one"

    private func path(of name: String) throws(Failure) -> String {
        if let output { output } else { try ProfileFile.usualPath(of: name) }
    }

    /// Before the questions: the answers would be lost.
    private func refuseExisting(_ name: String) throws(Failure) {
        guard !force, output != "-" else { return }
        try ProfileFile.refuseExisting(path(of: name), Self.existsHint)
    }

    /// - Throws: if the agent would not accept the profile.
    static func check(_ profile: String, at path: String, _ options: Options) throws(Failure) {
        let check = try options.connect().call(ProviderCheckRun(text: profile, file: path)).value
        guard check.problems.isEmpty else {
            throw Failure(
                status: .badSettings, kind: "settings",
                message: "the profile would have problems; nothing was written",
                hint: check.problems.map(\.description).joined(separator: "; "))
        }
    }

    /// Says how to get a client ID, before the question for it. A user who gives an ID has registered a client.
    /// - Parameter profile: with a sample in place of the ID.
    private func adviseRegistration(_ profile: String, _ options: Options) {
        guard clientId?.isEmpty != false, !options.json else { return }
        for line in Starter.advice(in: profile) { Output.note("  " + Visible.line(line)) }
    }

    private static func showList(_ options: Options) throws(Failure) -> ExitStatus {
        if options.json {
            return try Output.jsonResult(
                .array(Starter.all.map { ["name": .string($0.name), "title": .string($0.title)] }))
        }
        let screen = Screen.current
        let lines = Starter.all.map { starter in
            let options = ([Starter.clientID] + starter.values).map { $0.isOptional ? "[\($0.option)]" : $0.option }
            let other = starter.otherName.map { " (also \($0))" } ?? ""
            return ProviderCommands.hanging(
                starter.name, "\(starter.title)\(other); \(options.joined(separator: " "))", label: 12, screen)
        }
        try Output.result(lines.joined(separator: "\n"))
        return .done
    }

    // MARK: The profile

    private func profile(of provider: String, _ options: Options) throws(Failure) -> (name: String, text: String) {
        guard !provider.contains("://") else { return try profile(ofIssuer: provider, options) }
        guard let starter = Starter.named(provider) else {
            let near = Suggestion.nearest(to: provider, among: Starter.names)
            throw .usage(
                "'\(provider)' is not a known provider",
                hint: near.map { "did you mean `authc provider add \($0)`?" }
                    ?? "`authc provider add --list` lists them; for another OAuth provider name its issuer, an https address"
            )
        }
        let name = try checkedName(name ?? starter.name)
        try refuseExisting(name)
        adviseRegistration(starter.profile(named: name, [], scopes: scope, port: port), options)
        var values: [(String, String)] = []
        for value in [Starter.clientID] + starter.values {
            // Only a whole host: a link to docs.gitlab.com stays.
            let prefix = value.kind == .host ? "//" : ""
            values.append((prefix + value.sample, prefix + (try answer(value, options))))
        }
        try refuseOthers(than: starter.values.map(\.kind), provider)
        return (name, starter.profile(named: name, values, scopes: scope, port: port))
    }

    private func profile(ofIssuer issuer: String, _ options: Options) throws(Failure) -> (name: String, text: String) {
        try refuseOthers(than: [], issuer)
        let host = issuer.drop { $0 != ":" }.dropFirst("://".count).prefix { $0 != "/" }
        guard issuer.hasPrefix("https://") || issuer.hasPrefix("http://"), !host.isEmpty,
            issuer.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !issuer.contains("?"), !issuer.contains("#")
        else { throw .usage("'\(issuer)' is not an issuer, such as https://id.example.org") }
        let usual = String(
            host.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) ? $0 : "-" })
        let name = try checkedName(name ?? String(usual.prefix(64)))
        try refuseExisting(name)
        func text(_ clientID: String) -> String {
            Starter.profile(issuer: issuer, named: name, title: name, clientID: clientID, scopes: scope)
        }
        adviseRegistration(text(Starter.clientID.sample), options)
        return (name, text(try answer(Starter.clientID, options, isRaw: true)))
    }

    private func checkedName(_ name: String) throws(Failure) -> String {
        guard (try? SessionName(name)) != nil else {
            throw .usage("'\(name)' is not a valid name: use \(SessionName.rule)", hint: "name it: --name NAME")
        }
        return name
    }

    private func given(_ kind: Starter.Value.Kind) -> String? {
        switch kind {
        case .clientID: clientId
        case .host: host
        case .tenant: tenant
        case .realm: realm
        case .audience: audience
        }
    }

    private func refuseOthers(than kinds: [Starter.Value.Kind], _ provider: String) throws(Failure) {
        for value in Starter.all.flatMap(\.values) where given(value.kind) != nil && !kinds.contains(value.kind) {
            throw .usage("\(provider) has no \(value.option)")
        }
    }

    /// - Parameter isRaw: without the escapes that a TOML string needs.
    private func answer(_ value: Starter.Value, _ options: Options, isRaw: Bool = false) throws(Failure) -> String {
        let given = given(value.kind)
        if given == nil, value.isOptional { return value.sample }
        let checked = if let given, !given.isEmpty { try check(given, value) } else { try ask(for: value, options) }
        return isRaw ? checked : String(ProfileDraft.quoted(checked).dropFirst().dropLast())
    }

    private func check(_ given: String, _ value: Starter.Value) throws(Failure) -> String {
        do throws(Failure) {
            return try value.checked(given)
        } catch {
            throw .usage("\(value.option): \(error.message)", hint: error.hint)
        }
    }

    private func ask(for value: Starter.Value, _ options: Options) throws(Failure) -> String {
        guard options.canPrompt else {
            throw .usage("\(value.question) is missing, and there is no terminal", hint: "use \(value.option)")
        }
        return try RepeatedQuestion(text: value.question, cancelled: "no profile was written").ask {
            text throws(Failure) in try value.checked(text)
        }
    }
}
