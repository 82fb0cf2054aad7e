import AuthClient
import AuthWire
import Glibc

/// `provider new`: a profile from a few answers, for a person to go on with.
struct ProviderNew {
    /// A description of a large API has megabytes.
    private static let longestDescription = 64 << 20

    /// What was given on the command line; what is `nil` is asked for.
    struct Arguments {
        var name: String?
        var title: String?
        var url: String?
        var signIn: String?
        var fields: String?
        var token: String?
        var refreshToken: String?
        var expiresIn: String?
        var user: String?
        var renew: String?
    }

    var given: Arguments
    var openAPI: String?
    /// `nil`: stdout.
    var output: String?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let document: OpenAPIDocument? =
            if let openAPI {
                try OpenAPIDocument(
                    Array(try FileText.read(openAPI, atMost: Self.longestDescription).utf8), named: openAPI)
            } else { nil }
        let draft = try draft(document, options)
        guard let output else {
            try Output.raw(draft.text)
            return .done
        }
        try write(draft.text, to: output)
        let check = "`authc provider check \(Self.quoted(output))`"
        Output.note(Visible.line("\(output): written. Look through it; \(check) does too."))
        Output.note("`authc reload` has the agent read it.")
        return .done
    }

    private func draft(_ document: OpenAPIDocument?, _ options: Options) throws(Failure) -> ProfileDraft {
        let ask = ProfileQuestions(options: options)
        let url = try ask.answer("Base URL of its API", "--url", given.url, default: document?.url)
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw .usage("'\(url)' is no base URL: it begins with https://")
        }
        let name = try ask.answer("Short name", "NAME", given.name, default: Self.name(of: url))
        guard (try? SessionName(name)) != nil else { throw .usage("'\(name)' is no name: \(SessionName.rule)") }
        let title = try ask.answer("Name for people", "--title", given.title, default: document?.title ?? name)
        var draft = ProfileDraft(name: name, title: title, url: url)
        draft.signInPath = try ask.answer(
            "Path of the sign-in (POST)", "--sign-in", given.signIn, default: document?.signIn?.path ?? draft.signInPath
        )
        let fields = try ask.answer(
            "What it sends, separated by spaces", "--fields", given.fields,
            default: (document?.signIn?.fields ?? draft.fields).joined(separator: " "))
        draft.fields = fields.split { $0 == " " || $0 == "," }.map(String.init)
        draft.accessToken = try ask.pointer("Where the answer has the token", "--token", given.token, draft.accessToken)
        draft.refreshToken = try ask.pointerIfAny(
            "Where it has a refresh token, if it has one", "--refresh-token", given.refreshToken)
        draft.expiresIn = try ask.pointerIfAny(
            "Where it has the token's lifetime in seconds; nothing: the token tells itself (JWT)", "--expires-in",
            given.expiresIn)
        draft.user = try ask.pointer("Where it has the user", "--user", given.user, draft.user)
        let renew = try ask.optional("Path of the call that renews the token (POST), if there is one", given.renew)
        if let renew { draft.renewal = .refresh(path: renew) }
        draft.endpoints = (document?.endpoints ?? []).filter { $0.path != draft.signInPath }
        return draft
    }

    /// As a shell takes it for one word.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+,=:@%".contains($0)) }
        return isPlain ? path : "'" + path.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }

    /// `https://api.shop.example/v2` as `shop`.
    private static func name(of url: String) -> String? {
        let host = url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != ":" }.lowercased()
        let parts = host.split(separator: ".").filter { !["api", "www", "com", "org"].contains($0) }
        return parts.first.flatMap { try? SessionName(String($0)) }?.text
    }

    /// What cannot be made is told by opening the file.
    private static func makeFolders(above path: String) {
        for end in path.indices.dropFirst() where path[end] == "/" { _ = unsafe mkdir(String(path[..<end]), 0o755) }
    }

    /// Never over what is there.
    private func write(_ text: String, to path: String) throws(Failure) {
        Self.makeFolders(above: path)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw .usage("\(path) exists already: name another file, or remove it") }
            throw .usage("cannot write \(path): \(SystemError.text(errno))")
        }
        let file = Descriptor(descriptor)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else {
                throw .usage("cannot write \(path): \(SystemError.text(errno))")
            }
            rest = rest.dropFirst(max(0, written))
        }
    }
}

/// What the command line does not say is asked, where somebody is there; else it is the usual, or a usage error.
private struct ProfileQuestions {
    let options: Options

    func answer(_ question: String, _ flag: String, _ given: String?, default fallback: String?) throws(Failure)
        -> String
    {
        if let given { return given }
        guard options.canPrompt else {
            if let fallback { return fallback }
            throw .usage("\(question) is missing, and there is nobody to ask", hint: "give it by \(flag)")
        }
        while true {
            let line = try line(question + (fallback.map { " [\($0)]" } ?? ""))
            if !line.isEmpty { return line }
            if let fallback { return fallback }
        }
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
            throw .usage("\(flag): '\(text)' is no JSON Pointer: it looks like /data/token (RFC 6901)")
        }
        return text
    }

    private func line(_ question: String) throws(Failure) -> String {
        guard let line = try TerminalInput.ask(Visible.line(question) + ": ", isSecret: false) else {
            throw .cancelled("no profile was written")
        }
        return String(line.drop { $0 == " " })
    }
}
