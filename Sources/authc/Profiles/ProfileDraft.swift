import AuthWire

/// The text of a first profile, for the user to edit. Docs/profiles.md describes every key.
struct ProfileDraft {
    /// How a session is renewed, as far as the questions cover it.
    enum Renewal: Equatable {
        case none
        /// The sign-in is repeated, if the user has it remembered.
        case signIn
        /// A request with the refresh token if responses have one, otherwise with the access token.
        case refresh(path: String, RefreshBody = RefreshBody())
        /// A token request with the refresh token (RFC 6749 §6).
        case grant(SignInDraft.Address)
    }

    struct RefreshBody: Equatable {
        var format = OpenAPIDocument.BodyFormat.json
        /// `nil`: the description has none.
        var member: String? = "refresh_token"
    }

    var name: String
    var title: String
    var url: String
    /// Instead of a sign-in with a request.
    var key: KeyDraft?
    /// An origin, if the sign-in is not below the base URL.
    var signInHost: String?
    var signInPath = "/auth/login"
    var fields = ["email", "password"].map { SignInDraft.Field(name: $0, keys: [$0]) }
    /// What the user must know about the sign-in.
    var signInNote: String?
    var format = OpenAPIDocument.BodyFormat.json
    /// A token request of OAuth with a name and a password.
    var isGrant = false
    /// JSON Pointers into the sign-in response.
    var accessToken = "/token"
    var refreshToken: String?
    /// In seconds; `nil`: the expiry is read from the token.
    var expiresIn: String?
    /// In the sign-in response; `nil`: ``userPath`` has it.
    var user: String? = "/user"
    /// The request for the user.
    var userPath: String?
    /// The list of errors has `loc` and `msg`.
    var hasLocatedErrors = false
    var renewal = Renewal.none
    var endpoints: [EndpointDraft] = []

    var text: String {
        var text = """
            # The profile of \(Self.comment(title)). Docs/profiles.md describes every key;
            # `authc provider check FILE` checks this file.
            name = \(Self.quoted(name))
            title = \(Self.quoted(title))
            \(key.map { $0.authorization + "\n" } ?? "")
            # Base URLs by name. The paths of requests are appended.
            [environments]
            production = \(Self.quoted(url))

            \(key?.signIn ?? passwordSignIn)

            """
        text += key == nil ? replyText : ""
        text += """

            # Places in the user object. `name` can be joined: [["/first_name", "/last_name"], "/nickname"]
            [user]
            id = ["/id", "/sub", "/username"]
            email = "/email"
            name = "/name"

            # The provider's error message, which users see: the first one that exists.
            [errors]
            message = [\(isGrant ? "\"/error_description\", " : "")"/message", "/error", "/detail"]
            \(errorKeys)
            \(renewalText)
            """
        if let userPath {
            text += """

                [user_request.request]
                method = "GET"
                path = \(Self.quoted(userPath))
                bearer = true

                """
        }
        for endpoint in endpoints { text += "\n" + endpoint.text }
        return text
    }

    private var errorKeys: String {
        var text = hasLocatedErrors ? "details = \"/detail\"\n" : ""
        if case .grant = renewal { text += "code = \"/error\"\n" }
        return text
    }

    private var hosts: [(name: String, origin: String)] {
        var hosts: [(name: String, origin: String)] = []
        if let signInHost { hosts.append(("sign-in", signInHost)) }
        if case .grant(let address) = renewal, let origin = address.host, origin != signInHost {
            hosts.append(("renewal", origin))
        }
        return hosts
    }

    private func hostLine(_ origin: String?) -> String {
        hosts.first { $0.origin == origin }.map { "host = \(Self.quoted($0.name))\n" } ?? ""
    }

    private var passwordSignIn: String {
        let table = hosts.map { "\($0.name) = \(Self.quoted($0.origin))\n" }.joined()
        let note = signInNote.map { "# \(Visible.line($0))\n" } ?? ""
        return """
            \(table.isEmpty ? "" : "[hosts]\n\(table)\n")\(note)[sign_in.password]
            label = "Sign in"
            fields = [
            \(fields.map(Self.field).joined(separator: "\n"))
            ]

            [sign_in.password.request]
            method = "POST"
            \(hostLine(signInHost))path = \(Self.quoted(signInPath))
            \(sentBody)
            """
    }

    private var replyText: String {
        var text = """

            # Places in the responses (JSON Pointers, RFC 6901).
            [reply]
            access_token = \(Self.quoted(accessToken))

            """
        if let refreshToken { text += "refresh_token = \(Self.quoted(refreshToken))\n" }
        if let expiresIn { text += "expires_in = \(Self.quoted(expiresIn))\n" }
        if expiresIn == nil || isGrant { text += "expires_from_jwt = true\n" }
        if let user { text += "user = \(Self.quoted(user))\n" }
        return text
    }

    private var sentBody: String {
        let members = SignInDraft.members(fields)
        if isGrant { return "form = { grant_type = \"password\", \(members) }" }
        return switch format {
        case .json: "body = { \(members) }"
        case .form: "form = { \(members) }"
        case .multipart: "multipart = \(SignInDraft.parts(fields))"
        }
    }

    private var renewalText: String {
        if renewal == .signIn {
            return """
                # The sign-in is repeated if it was remembered (authc login --remember); otherwise a session ends with its token.
                [renewal]
                kind = "sign-in"

                """
        }
        if case .grant(let address) = renewal {
            return """
                # Only these end a session. After any other error, authd retries.
                [renewal]
                kind = "refresh"
                final_statuses = [401]
                final_codes = ["invalid_grant"]

                [renewal.request]
                method = "POST"
                \(hostLine(address.host))path = \(Self.quoted(address.path))
                form = { grant_type = "refresh_token", refresh_token = "{refresh_token}" }

                """
        }
        guard case .refresh(let path, let body) = renewal else {
            return """
                # A session cannot be renewed: it ends with its token. If it can, use kind = "refresh" with a request.
                [renewal]
                kind = "none"

                """
        }
        let proof = refreshToken == nil ? "bearer = true" : Self.refreshBody(body)
        return """
            # Only these statuses end a session. After any other error, authd retries.
            [renewal]
            kind = "refresh"
            final_statuses = [401]

            [renewal.request]
            method = "POST"
            path = \(Self.quoted(path))
            \(proof)

            """
    }

    private static func refreshBody(_ body: RefreshBody) -> String {
        let name = body.member ?? "refresh_token"
        let token = "\"{refresh_token}\""
        return switch body.format {
        case .json: "body = { \(SignInDraft.key(name)) = \(token) }"
        case .form: "form = { \(SignInDraft.key(name)) = \(token) }"
        case .multipart: "multipart = [{ name = \(quoted(name)), text = \(token) }]"
        }
    }

    private static func field(_ field: SignInDraft.Field) -> String {
        let label = field.name.replacing("_", with: " ")
        let isPassword = field.isPassword || SignInDraft.isPassword(field.name)
        let kind = isPassword ? "password" : field.name == "email" ? "email" : "text"
        return "    { name = \(quoted(field.name)), label = \(quoted(label.prefix(1).uppercased() + label.dropFirst()))"
            + ", kind = \(quoted(kind))\(field.isOptional ? ", optional = true" : "") },"
    }

    /// A basic string. TOML has all of JSON's escapes, and one character more that must be escaped (TOML 1.0, "String").
    static func quoted(_ text: String) -> String {
        JSON.string(text).text().replacing("\u{7F}", with: #"\u007F"#)
    }

    static func comment(_ text: String) -> String { Visible.line(String(text.prefix(100))) }
}

/// One endpoint, as far as the document describes it.
struct EndpointDraft {
    struct Argument {
        var name: String
        /// As in `args`, without the `?`.
        var type: String
        var isOptional = false
    }

    var name: String
    var about: String?
    var method: String
    var path: String
    var bearer = true
    /// Key and argument.
    var query: [(String, String)] = []
    var body: [(String, String)] = []
    var form: [(String, String)] = []
    /// For a multipart body: name, argument, and whether it is a file.
    var parts: [(name: String, argument: String, isFile: Bool)] = []
    var arguments: [Argument] = []
    var note: String?

    var text: String {
        var lines = ["[endpoints.\(name)]"]
        if let about { lines.append("about = \(ProfileDraft.quoted(about))") }
        lines += ["method = \(ProfileDraft.quoted(method))", "path = \(ProfileDraft.quoted(path))"]
        if !bearer { lines.append("bearer = false") }
        if !query.isEmpty { lines.append("query = \(Self.table(query))") }
        if !body.isEmpty { lines.append("body = \(Self.table(body))") }
        if !form.isEmpty { lines.append("form = \(Self.table(form))") }
        if !parts.isEmpty {
            let parts = parts.map { Self.part($0.name, argument: $0.argument, isFile: $0.isFile) }
            lines.append("multipart = [\(parts.joined(separator: ", "))]")
        }
        for argument in arguments {
            let type = argument.type + (argument.isOptional ? "?" : "")
            lines.append("args.\(argument.name) = \(ProfileDraft.quoted(type))")
        }
        if let note { lines.append("# " + note) }
        return lines.joined(separator: "\n") + "\n"
    }

    static func part(_ name: String, argument: String, isFile: Bool = false) -> String {
        let file = ProfileDraft.quoted(argument)
        let content = isFile ? "file = \(file), filename = \(file)" : "text = \(ProfileDraft.quoted("{\(argument)}"))"
        return "{ name = \(ProfileDraft.quoted(name)), \(content) }"
    }

    private static func table(_ pairs: [(String, String)]) -> String {
        let members = pairs.map { "\(ProfileDraft.quoted($0.0)) = \(ProfileDraft.quoted("{\($0.1)}"))" }
        return "{ \(members.joined(separator: ", ")) }"
    }
}
