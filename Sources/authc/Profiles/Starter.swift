/// A profile for a known provider, complete except for a few values.
///
/// Its text is a profile with samples such as YOUR-CLIENT-ID. The comment at its beginning says what to register and where.
struct Starter {
    /// A value that replaces its sample in the profile.
    struct Value {
        enum Kind {
            case clientID
            /// A host, with a port if it has one.
            case host
            /// An identifier of Microsoft Entra ID, a UUID.
            case tenant
            /// A segment of a path.
            case realm
            /// An absolute URL.
            case audience
        }

        let kind: Kind
        let sample: String
        let question: String
        /// Whether the sample is a usable value.
        var isOptional = false

        var option: String {
            switch kind {
            case .clientID: "--client-id"
            case .host: "--host"
            case .tenant: "--tenant"
            case .realm: "--realm"
            case .audience: "--audience"
            }
        }

        /// The option with a word in place of the value.
        var placeholder: String {
            let word =
                switch kind {
                case .clientID: "ID"
                case .host: "HOST"
                case .tenant: "UUID"
                case .realm: "REALM"
                case .audience: "URL"
                }
            return "\(option) \(word)"
        }
    }

    static let clientID = Value(kind: .clientID, sample: "YOUR-CLIENT-ID", question: "Client ID")

    let name: String
    /// Another name that users may look for.
    var otherName: String?
    let text: String
    /// Besides the client ID.
    var values: [Value] = []
    /// The key of the scopes, if its value is one text with commas.
    var commaScopes: String?

    init(_ name: String, or otherName: String? = nil, _ bytes: [UInt8], _ values: [Value] = []) {
        self.name = name
        self.otherName = otherName
        self.values = values
        text = String(decoding: bytes, as: UTF8.self)
    }

    static let all: [Starter] = [
        Starter("atlassian", or: "jira", PackageResources.atlassian_toml),
        Starter(
            "auth0", PackageResources.auth0_toml,
            [
                Value(kind: .host, sample: "YOUR-TENANT.auth0.com", question: "Domain of the tenant"),
                Value(kind: .audience, sample: "https://YOUR-API.example", question: "Identifier of the API"),
            ]),
        Starter("discord", PackageResources.discord_toml),
        Starter(
            "forgejo", or: "gitea", PackageResources.forgejo_toml,
            [Value(kind: .host, sample: "codeberg.org", question: "Host", isOptional: true)]),
        Starter("github", PackageResources.github_toml),
        Starter(
            "gitlab", PackageResources.gitlab_toml,
            [Value(kind: .host, sample: "gitlab.com", question: "Host", isOptional: true)]),
        Starter("google", PackageResources.google_toml),
        Starter(
            "keycloak", PackageResources.keycloak_toml,
            [
                Value(kind: .host, sample: "YOUR-HOST", question: "Host"),
                Value(kind: .realm, sample: "YOUR-REALM", question: "Realm"),
            ]),
        Starter("linear", PackageResources.linear_toml).withCommas("scopes"),
        Starter(
            "microsoft", or: "entra", PackageResources.microsoft_toml,
            [Value(kind: .tenant, sample: "YOUR-TENANT-ID", question: "Directory (tenant) ID")]),
        Starter("notion", PackageResources.notion_toml),
        Starter(
            "okta", PackageResources.okta_toml,
            [Value(kind: .host, sample: "YOUR-ORG.okta.com", question: "Domain of the organization")]),
        Starter("slack", PackageResources.slack_toml).withCommas("user_scope"),
        Starter("spotify", PackageResources.spotify_toml),
    ]

    static func named(_ name: String) -> Starter? { all.first { $0.name == name || $0.otherName == name } }

    static var names: [String] { all.flatMap { [$0.name] + [$0.otherName].compactMap(\.self) } }

    /// What `authc provider add` needs besides the name.
    var placeholders: [String] {
        ([Self.clientID] + values).filter { !$0.isOptional }.map(\.placeholder)
    }

    var title: String {
        let line = text.split(separator: "\n").first { $0.hasPrefix("title = ") }
        return line.map { String($0.dropFirst("title = \"".count).dropLast()) } ?? name
    }

    /// What to register and where: the comment at the beginning of a profile as one line, then each link on a separate
    /// line.
    static func advice(in text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix { $0.hasPrefix("# ") }
            .map { String($0.dropFirst(2)) }
        let isLink = { (line: String) in line.hasPrefix("https://") && !line.contains(" ") }
        return [lines.filter { !isLink($0) }.joined(separator: " ")] + lines.filter(isLink)
    }

    /// The profile with these values.
    /// - Parameter values: as the TOML strings around their samples need them.
    func profile(named name: String, _ values: [(sample: String, text: String)], scopes: [String], port: Int?) -> String
    {
        var text = text
        for (sample, value) in values { text = text.replacing(sample, with: value) }
        if let port { text = text.replacing(":8765/", with: ":\(port)/") }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func replace(_ key: String, with line: String) {
            // The first one: tables further down may have the same key.
            if let index = lines.firstIndex(where: { $0.hasPrefix(key + " = ") }) { lines[index] = line }
        }
        replace("name", with: "name = \(ProfileDraft.quoted(name))")
        if !scopes.isEmpty { replace(commaScopes ?? "scopes", with: Self.scopes(scopes, commaScopes)) }
        return lines.joined(separator: "\n")
    }

    /// Five lines: everything else is in the issuer's metadata.
    static func profile(issuer: String, named name: String, title: String, clientID: String, scopes: [String]) -> String
    {
        let scopes = scopes.isEmpty ? ["openid", "profile", "email", "offline_access"] : scopes
        return """
            # \(ProfileDraft.comment(title)): register a public client (native application) with PKCE.
            # Redirect URI: http://127.0.0.1/callback. If the provider compares ports, set redirect in [oauth], with a port.
            name = \(ProfileDraft.quoted(name))
            title = \(ProfileDraft.quoted(title))
            issuer = \(ProfileDraft.quoted(issuer))
            client_id = \(ProfileDraft.quoted(clientID))
            \(Self.scopes(scopes, nil))

            """
    }

    private func withCommas(_ key: String) -> Starter {
        var starter = self
        starter.commaScopes = key
        return starter
    }

    private static func scopes(_ scopes: [String], _ commaKey: String?) -> String {
        switch commaKey {
        case nil: "scopes = [\(scopes.map(ProfileDraft.quoted).joined(separator: ", "))]"
        case "scopes"?: "scopes = [\(ProfileDraft.quoted(scopes.joined(separator: ",")))]"
        case let key?: "\(key) = \(ProfileDraft.quoted(scopes.joined(separator: ",")))"
        }
    }
}
