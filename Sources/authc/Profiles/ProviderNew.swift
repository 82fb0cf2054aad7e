import AuthWire
import CommandArguments

struct ProviderNew: AgentCommand {
    /// The document of a large API has megabytes.
    static let longestDescription = 64 << 20
    /// Lines about what was left out: more would hide the rest.
    private static let mostLeftOut = 40

    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Write a first profile for a provider, to edit by hand.",
        discussion: """
            On a terminal, authc asks for what is missing. Otherwise it uses defaults. Put the file in \
            ~/.config/authd/providers/.
            """)

    @OptionGroup var common: AskingFileOptions

    @Argument(help: "A short name.", completion: .nothing)
    var name: String?

    @Option(help: "The name that users see.", completion: .nothing)
    var title: String?

    @Option(help: "The base URL of its API.", completion: .nothing)
    var url: String?

    @Option(help: ArgumentHelp("The path of the sign-in request.", valueName: "path"), completion: .nothing)
    var signIn: String?

    @Option(
        help: ArgumentHelp("The fields of the sign-in request, such as 'email password'.", valueName: "names"),
        completion: .nothing)
    var fields: String?

    @Option(help: ArgumentHelp("The place of the token in the response.", valueName: "pointer"), completion: .nothing)
    var token: String?

    @Option(help: ArgumentHelp("The place of the refresh token.", valueName: "pointer"), completion: .nothing)
    var refreshToken: String?

    @Option(
        help: ArgumentHelp("The place of the token's lifetime in seconds.", valueName: "pointer"), completion: .nothing)
    var expiresIn: String?

    @Option(help: ArgumentHelp("The place of the user.", valueName: "pointer"), completion: .nothing)
    var user: String?

    @Option(
        help: ArgumentHelp("The path of the request that renews the token.", valueName: "path"), completion: .nothing)
    var renew: String?

    @Option(
        name: [.customLong("openapi")],
        help: ArgumentHelp(
            "An OpenAPI 3 or Swagger 2 document (JSON or YAML) that describes the API.", valueName: "file"),
        completion: .file)
    var openAPI: String?

    @Option(
        name: [.short, .long], help: ArgumentHelp("Write to a new file instead of stdout.", valueName: "file"),
        completion: .file)
    var output: String?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let profile = try profile(options)
        guard let output else {
            try Output.raw(profile)
            return .done
        }
        try write(profile, to: output)
        let check = "`authc provider check \(ShellWord.quoted(output))`"
        Output.note(Visible.line("\(output): written. Edit it, then check it: \(check)"))
        let place = ProfileFile.isInPlace(output) ? "" : "put it in \(ProfileFile.usualFolder) and "
        Output.note(Visible.line("Then \(place)load it: `authc reload`"))
        return .done
    }

    /// The part of `authc login`, which then loads the profile and signs in.
    /// - Throws: even before anything is written, if the agent would not accept the profile.
    func runInLogin(writingTo path: String, _ options: Options) throws(Failure) {
        let profile = try profile(options)
        try ProviderAdd.check(profile, at: path, options)
        try write(profile, to: path)
        Output.note(Visible.line("\(path): written."))
    }

    private func profile(_ options: Options) throws(Failure) -> String {
        var document: OpenAPIDocument? =
            if let openAPI {
                try OpenAPIDocument(
                    Array(try FileText.read(openAPI, atMost: Self.longestDescription).utf8), named: openAPI)
            } else { nil }
        let draft = try draft(&document, options)
        for note in notes(on: draft, document) { Output.note(Visible.line(note)) }
        return draft.text
    }

    private func write(_ profile: String, to path: String) throws(Failure) {
        try ProfileFile.write(profile, to: path, replacing: false, ifExists: "name another file, or remove it")
    }

    private func notes(on draft: ProfileDraft, _ document: OpenAPIDocument?) -> [String] {
        let leftOut = document?.leftOut ?? []
        var notes = leftOut.prefix(Self.mostLeftOut).map { "left out: \($0)" }
        if leftOut.count > Self.mostLeftOut { notes.append("left out: \(leftOut.count - Self.mostLeftOut) more") }
        if let note = draft.signInNote { notes.append(note) }
        if case .refresh(let path, let body) = draft.renewal, draft.refreshToken != nil, body.member == nil {
            notes.append(
                "The description of POST \(path) has no member for a refresh token. The profile sends refresh_token: check it."
            )
        }
        var addresses: [(String, SignInDraft.Address)] = []
        if let host = draft.signInHost {
            addresses.append(("sign-in", SignInDraft.Address(host: host, path: draft.signInPath)))
        }
        if case .grant(let address) = draft.renewal { addresses.append(("renewal", address)) }
        for (name, address) in addresses {
            guard let host = address.host else { continue }
            notes.append(
                host == DescriptionURL(draft.url)?.origin
                    ? "The \(name) is at the API's host, but outside its base URL: \(host)\(address.path)"
                    : "The \(name) is at a different host than the API: \(host)")
        }
        return notes
    }

    private func draft(_ document: inout OpenAPIDocument?, _ options: Options) throws(Failure) -> ProfileDraft {
        let ask = ProfileQuestions(options: options)
        let given = try ask.answer("Base URL of its API", "--url", self.url, default: document?.url) { url in
            url.hasPrefix("https://") || url.hasPrefix("http://")
                ? nil : "'\(url)' is not a base URL, such as https://api.example.org"
        }
        let url = document?.url(at: given) ?? given
        guard let base = DescriptionURL(url), base.path.isEmpty || DescriptionURL.isPath(base.path) else {
            throw .usage("'\(url)' is not a base URL, such as https://api.example.org")
        }
        guard base.isProtected else {
            throw .usage(
                "\(url): plain http is for this machine only: passwords would be sent unencrypted",
                hint: "use --url https://…, or edit the profile later (allow_insecure_http)")
        }
        if url != given, let server = document?.server {
            Output.note(Visible.line("The base URL is \(url): the description has the server \(server)"))
        }
        document?.base = url
        let name = try ask.answer("Short name", "NAME", self.name, default: Self.name(of: url)) { name in
            (try? SessionName(name)) == nil ? "'\(name)' is not a valid name: use \(SessionName.rule)" : nil
        }
        let title = try ask.answer("Name that users see", "--title", self.title, default: document?.title ?? name)
        var draft = ProfileDraft(name: name, title: title, url: url)
        draft.hasLocatedErrors = document?.hasLocatedErrors ?? false
        if signIn == nil, self.fields == nil, token == nil, let key = document?.keySignIn {
            draft.key = key
            draft.userPath = document?.userPath
            draft.endpoints = document?.endpoints ?? []
            return draft
        }
        let found = document?.signIn
        draft.signInPath = try ask.answer(
            "Path of the sign-in request (POST)", "--sign-in", self.signIn, default: found?.path ?? draft.signInPath
        ) { path in DescriptionURL.isPath(path) ? nil : "'\(path)' is not a path, such as /auth/login" }
        // What was asked for may be a request other than the one that the document describes.
        let described = found?.path == draft.signInPath ? found : document?.signIn(at: draft.signInPath)
        let known = described?.fields ?? draft.fields
        let fields = try ask.answer(
            "Fields of the request, separated by spaces", "--fields", self.fields,
            default: known.map(\.name).joined(separator: " "))
        draft.fields = Self.fields(fields, among: known, in: draft.signInPath)
        guard !draft.fields.isEmpty else { throw .usage("a sign-in needs at least one field") }
        draft.format = described?.format ?? .json
        let isInvented = document != nil && described == nil && !options.canPrompt
        if isInvented, self.signIn == nil || self.fields == nil {
            let names = draft.fields.map(\.name).joined(separator: " ")
            draft.signInNote =
                "The description has no sign-in that authc recognizes. "
                + "This is a placeholder, to be replaced: POST \(draft.signInPath) with \(names) as JSON"
        }
        draft.isGrant = described?.isGrant ?? false
        draft.accessToken = try ask.pointer(
            "Place of the token in the response", "--token", self.token,
            draft.isGrant ? "/access_token" : draft.accessToken)
        draft.refreshToken =
            try ask.pointerIfAny(
                "Place of the refresh token, if there is one", "--refresh-token", self.refreshToken)
            ?? (described?.renewal == nil ? nil : "/refresh_token")
        draft.expiresIn =
            try ask.pointerIfAny(
                "Place of the token's lifetime in seconds, or empty to read it from the token (JWT)", "--expires-in",
                self.expiresIn) ?? (draft.isGrant ? "/expires_in" : nil)
        draft.signInHost = described?.address.host
        draft.userPath = draft.isGrant && self.user == nil ? document?.userPath : nil
        // A token response of OAuth has no user.
        draft.user =
            draft.isGrant && self.user == nil ? nil : try ask.pointer("Place of the user", "--user", self.user, "/user")
        let renew = try ask.optional("Path of the request that renews the token (POST), if there is one", self.renew)
        draft.renewal =
            renew.map { .refresh(path: $0, document?.refreshBody(at: $0) ?? ProfileDraft.RefreshBody()) } ?? described?
            .renewal.map { ProfileDraft.Renewal.grant($0) }
            ?? (draft.isGrant ? .signIn : .none)
        draft.endpoints = (document?.endpoints ?? []).filter {
            $0.method != "POST" || $0.path != draft.signInPath || draft.signInHost != nil
        }
        return draft
    }

    /// The placeholders of the path, and the fields that were typed: those of the description, or members of the body.
    private static func fields(
        _ text: String, among known: [SignInDraft.Field], in path: String
    ) -> [SignInDraft.Field] {
        var fields: [SignInDraft.Field] = []
        for name in OpenAPIDocument.placeholders(in: path) where !known.contains(where: { $0.name == name }) {
            fields.append(SignInDraft.Field(name: name, keys: []))
        }
        for word in text.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init) {
            let field =
                known.first { $0.name == word || $0.keys.last == word }
                ?? SignInDraft.Field(name: OpenAPIDocument.argument(word), keys: [word])
            if !fields.contains(where: { $0.name == field.name }) { fields.append(field) }
        }
        return fields
    }

    /// `https://api.shop.example/v2` as `shop`.
    private static func name(of url: String) -> String? {
        let host = url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != ":" }.lowercased()
        let parts = host.split(separator: ".").filter { !["api", "www", "com", "org"].contains($0) }
        return parts.first.flatMap { try? SessionName(String($0)) }?.text
    }
}

/// Asks for what the command line does not say. Without a terminal, uses the default or throws a usage error.
private struct ProfileQuestions {
    private static let cancelled = "no profile was written"

    let options: Options

    /// - Parameter problem: why the answer is not accepted; `nil` if it is.
    func answer(
        _ question: String, _ flag: String, _ given: String?, default fallback: String?,
        _ problem: (String) -> String? = { _ in nil }
    ) throws(Failure) -> String {
        if let answer = given ?? (options.canPrompt ? nil : fallback) { return try accepted(answer, problem) }
        guard options.canPrompt else {
            throw .usage("\(question) is missing, and there is no terminal", hint: "use \(flag)")
        }
        let repeated = RepeatedQuestion(
            text: question + (fallback.map { " [\($0)]" } ?? ""), usual: fallback, cancelled: Self.cancelled)
        return try repeated.ask { answer throws(Failure) in try accepted(answer, problem) }
    }

    private func accepted(_ answer: String, _ problem: (String) -> String?) throws(Failure) -> String {
        if let problem = problem(answer) { throw .usage(problem) }
        return answer
    }

    func optional(_ question: String, _ given: String?) throws(Failure) -> String? {
        let text = if let given { given } else { options.canPrompt ? try line(question) : "" }
        return text.isEmpty ? nil : text
    }

    func pointer(
        _ question: String, _ flag: String, _ given: String?, _ fallback: String
    ) throws(Failure) -> String {
        try checked(try answer(question + " (a JSON Pointer)", flag, given, default: fallback), flag)
    }

    func pointerIfAny(_ question: String, _ flag: String, _ given: String?) throws(Failure) -> String? {
        guard let text = try optional(question, given) else { return nil }
        return try checked(text, flag)
    }

    private func checked(_ text: String, _ flag: String) throws(Failure) -> String {
        guard (try? JSONPointer(text)) != nil else {
            throw .usage("\(flag): '\(text)' is not a JSON Pointer, such as /data/token (RFC 6901)")
        }
        return text
    }

    private func line(_ question: String) throws(Failure) -> String {
        guard let line = try TerminalInput.ask(Visible.line(question) + ": ", isSecret: false) else {
            throw .cancelled(Self.cancelled)
        }
        return String(line.drop { $0 == " " })
    }
}
