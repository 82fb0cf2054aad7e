/// How authd describes itself as an OAuth client (RFC 7591 §2): in a registration, and in a Client ID Metadata Document.
public enum ClientMetadata {
    /// The redirect address on this machine; the port is chosen at each sign-in (RFC 8252 §7.3).
    public static let redirectURI = "http://127.0.0.1/callback"
    /// Without it no session can be renewed. Servers that support it often do not list it.
    public static let refreshGrant = "refresh_token"
    /// The grants that start and renew sessions.
    public static let grants = [
        "authorization_code", refreshGrant, "urn:ietf:params:oauth:grant-type:device_code",
    ]

    /// The members of both. A client with an authentication other than `none` has a secret.
    public static func members(
        redirectURI: String = redirectURI, grants: [String] = grants, authentication: String = "none"
    ) -> JSONObject {
        [
            "client_name": "authd", "application_type": "native", "redirect_uris": [.string(redirectURI)],
            "response_types": ["code"], "grant_types": .array(grants.map(JSON.string)),
            "token_endpoint_auth_method": .string(authentication),
        ]
    }

    /// Whether a client's ID may be this address: https, with a path, and without a query, a fragment or a user name.
    public static func isDocumentURL(_ text: String) -> Bool {
        let scheme = "https://"
        guard text.hasPrefix(scheme), text.utf8.count <= 1024,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#@\"<>\\^`{|}".utf8.contains($0) })
        else { return false }
        let parts = text.dropFirst(scheme.count).split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 1 && !parts[0].isEmpty && parts != [parts[0], ""] && !parts.contains(".")
            && !parts.contains("..")
    }

    /// The document to host at `url`, which is also the client's ID there.
    public static func document(at url: String) -> JSON {
        var object: JSONObject = ["client_id": .string(url)]
        for (name, value) in members() { object[name] = value }
        return .object(object)
    }
}
