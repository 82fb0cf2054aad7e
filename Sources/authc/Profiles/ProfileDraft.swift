import AuthWire

/// What is known of a provider, as the file that a person goes on with: Docs/profiles.md has every key.
struct ProfileDraft {
    /// What renews a session, as far as a question can tell.
    enum Renewal: Equatable {
        case none
        /// A request with the refresh token where the answers have one, else with the token itself.
        case refresh(path: String)
    }

    var name: String
    var title: String
    var url: String
    var signInPath = "/auth/login"
    var fields = ["email", "password"]
    /// JSON Pointers into the answer to a sign-in.
    var accessToken = "/token"
    var refreshToken: String?
    /// In seconds; `nil`: the token's own end is read.
    var expiresIn: String?
    var user = "/user"
    var renewal = Renewal.none
    var endpoints: [EndpointDraft] = []

    var text: String {
        var text = """
            # \(Self.comment(title)), as authd sees it. Every key is told of in Docs/profiles.md;
            # `authc provider check FILE` tells what is wrong with this one.
            name = \(Self.quoted(name))
            title = \(Self.quoted(title))

            # Base URLs by name; requests say what comes behind.
            [environments]
            production = \(Self.quoted(url))

            [sign_in.password]
            label = "Sign in"
            fields = [
            \(fields.map(Self.field).joined(separator: "\n"))
            ]

            [sign_in.password.request]
            method = "POST"
            path = \(Self.quoted(signInPath))
            body = { \(fields.map { "\($0) = \(Self.quoted("{\($0)}"))" }.joined(separator: ", ")) }

            # Where its answers keep what (JSON Pointers, RFC 6901).
            [reply]
            access_token = \(Self.quoted(accessToken))

            """
        if let refreshToken { text += "refresh_token = \(Self.quoted(refreshToken))\n" }
        text += expiresIn.map { "expires_in = \(Self.quoted($0))\n" } ?? "expires_from_jwt = true\n"
        text += """
            user = \(Self.quoted(user))

            # Of the user object. `name` may be put together: [["/first_name", "/last_name"], "/nickname"]
            [user]
            id = "/id"
            email = "/email"
            name = "/name"

            # Its own words, shown to people; the first that is there.
            [errors]
            message = ["/message", "/error", "/detail"]

            \(renewalText)
            """
        for endpoint in endpoints { text += "\n" + endpoint.text }
        return text
    }

    private var renewalText: String {
        guard case .refresh(let path) = renewal else {
            return """
                # Nothing renews a session: it ends with its token. Else kind = "refresh", with a request.
                [renewal]
                kind = "none"

                """
        }
        let proof =
            refreshToken == nil ? "bearer = true" : "body = { refresh_token = \"{refresh_token}\" }"
        return """
            # Only these statuses end a session; whatever else comes is tried again.
            [renewal]
            kind = "refresh"
            final_statuses = [401]

            [renewal.request]
            method = "POST"
            path = \(Self.quoted(path))
            \(proof)

            """
    }

    private static func field(_ name: String) -> String {
        let label = name.replacing("_", with: " ")
        let kind = ["email": "email", "password": "password", "pin": "password"][name] ?? "text"
        return "    { name = \(quoted(name)), label = \(quoted(label.prefix(1).uppercased() + label.dropFirst()))"
            + ", kind = \(quoted(kind)) },"
    }

    /// A basic string; JSON's escapes are among TOML's (TOML 1.0, "String").
    static func quoted(_ text: String) -> String { JSON.string(text).text() }

    /// One line.
    static func comment(_ text: String) -> String { Visible.line(String(text.prefix(100))) }
}

/// One call of a provider's API, as far as a description tells of it.
struct EndpointDraft {
    struct Argument {
        var name: String
        /// As `args` has it, without the `?`.
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
    /// Of a form: name, argument, and whether that is a file.
    var parts: [(name: String, argument: String, isFile: Bool)] = []
    var arguments: [Argument] = []
    /// What a person has to add.
    var note: String?

    var text: String {
        var lines = ["[endpoints.\(name)]"]
        if let about { lines.append("about = \(ProfileDraft.quoted(about))") }
        lines += ["method = \(ProfileDraft.quoted(method))", "path = \(ProfileDraft.quoted(path))"]
        if !bearer { lines.append("bearer = false") }
        if !query.isEmpty { lines.append("query = \(Self.table(query))") }
        if !body.isEmpty { lines.append("body = \(Self.table(body))") }
        if !parts.isEmpty {
            let parts = parts.map { part in
                "{ name = \(ProfileDraft.quoted(part.name)), "
                    + (part.isFile
                        ? "file = \(ProfileDraft.quoted(part.argument)), filename = \(ProfileDraft.quoted(part.argument))"
                        : "text = \(ProfileDraft.quoted("{\(part.argument)}"))") + " }"
            }
            lines.append("multipart = [\(parts.joined(separator: ", "))]")
        }
        for argument in arguments {
            let type = argument.type + (argument.isOptional ? "?" : "")
            lines.append("args.\(argument.name) = \(ProfileDraft.quoted(type))")
        }
        if let note { lines.append("# " + note) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func table(_ pairs: [(String, String)]) -> String {
        let members = pairs.map { "\(ProfileDraft.quoted($0.0)) = \(ProfileDraft.quoted("{\($0.1)}"))" }
        return "{ \(members.joined(separator: ", ")) }"
    }
}
