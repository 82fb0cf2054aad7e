import AuthWire

/// A sign-in without a request: what the user enters is sent with each request (`kind = "key"`).
struct KeyDraft {
    enum Place: Equatable {
        /// The key, in this place: `header`, `query` or `cookie`.
        case parameter(String, name: String)
        /// A name and a password (RFC 7617).
        case basic
    }

    var place: Place
    /// A GET that shows whether the key is accepted.
    var checkPath: String?

    /// At the top of the file.
    var authorization: String {
        switch place {
        case .parameter(let kind, let name):
            "authorization = { \(kind) = \(ProfileDraft.quoted(name)) }"
        case .basic: #"authorization = "Basic {access_token:base64}""#
        }
    }

    var signIn: String {
        let (fields, token) =
            place == .basic
            ? (
                #"    { name = "username", label = "User name" },"# + "\n"
                    + #"    { name = "password", label = "Password", kind = "password" },"#, "{username}:{password}"
            ) : (#"    { name = "key", label = "Key", kind = "key" },"#, "{key}")
        let check = checkPath.map { "check = { method = \"GET\", path = \(ProfileDraft.quoted($0)) }" }
        return """
            [sign_in.key]
            kind = "key"
            label = "\(place == .basic ? "User name and password" : "API key")"
            fields = [
            \(fields)
            ]
            token = "\(token)"
            # A request that succeeds only with a valid key.
            \(check ?? #"check = { method = "GET", path = "/" }"#)
            """
    }
}
