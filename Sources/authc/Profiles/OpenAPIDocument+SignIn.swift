import AuthWire

/// How a user signs in.
extension OpenAPIDocument {
    /// Limits for a sign-in: a body with deeper objects or more fields is not one.
    private static let maxNesting = 4
    private static let maxFields = 32
    /// Schemas can contain each other.
    private static let maxObjects = 64

    private static let pathWords = [
        "login", "logon", "signin", "sign-in", "sign_in", "session", "token", "authenticate",
    ]

    /// The sign-in of a password flow of OAuth (RFC 6749 §4.3), if the document has one, or else the first operation that
    /// looks like a sign-in: it has a password field.
    var signIn: SignInDraft? {
        if let flow = passwordFlow { return flow.draft }
        return operations.lazy.filter { operation in
            operation.method == "POST" && Self.pathWords.contains(where: operation.path.lowercased().contains)
        }
        .compactMap { draft(of: $0) }.first { $0.fields.contains(where: \.isPassword) }
    }

    /// The request at this path, if it is described, whatever its fields are.
    func signIn(at path: String) -> SignInDraft? {
        operations.first { $0.method == "POST" && $0.path == path }.flatMap { draft(of: $0) }
    }

    private func draft(of operation: Operation) -> SignInDraft? {
        guard let body = body(of: operation), DescriptionURL.isPath(operation.path) else { return nil }
        let drafts = body.schemas.map { schema in
            var draft = SignInDraft(
                address: SignInDraft.Address(path: operation.path), fields: [], format: body.format)
            var objects = Self.maxObjects
            add(schema, below: [], isOptional: false, to: &draft, &objects)
            return draft
        }
        // The alternatives of a body may be different sign-ins.
        guard var draft = drafts.first(where: { $0.fields.contains(where: \.isPassword) }) ?? drafts.first,
            !draft.fields.isEmpty
        else { return nil }
        for key in Self.placeholders(in: operation.path) {
            let name = Self.argument(key)
            draft.address.path = draft.path.replacing("{\(key)}", with: "{\(name)}")
            guard !draft.fields.contains(where: { $0.name == name }) else { continue }
            draft.fields.insert(SignInDraft.Field(name: name, keys: []), at: 0)
        }
        return draft
    }

    private func add(
        _ schema: JSON, below keys: [String], isOptional isInOptional: Bool, to draft: inout SignInDraft,
        _ objects: inout Int
    ) {
        let required = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        for (key, value) in schema["properties"]?.objectValue ?? [:] {
            let property = resolved(value)
            // Without a list of required members, a sign-in needs all of them.
            let isOptional = isInOptional || (!required.isEmpty && !required.contains(key))
            let type = argumentType(property)
            let path = keys + [key]
            if property["readOnly"]?.boolValue == true { continue }
            // Only JSON has members of members.
            if type == "object", draft.format == .json, property["properties"] != nil, path.count < Self.maxNesting,
                objects > 0
            {
                objects -= 1
                add(property, below: path, isOptional: isOptional, to: &draft, &objects)
                continue
            }
            let described = path.joined(separator: ".")
            // A sign-in sends no files, and every field as text.
            let isFile = draft.format == .multipart && (Self.isFile(property) || isFiles(property))
            let isText = type == "text" || type == "secret"
            guard !isFile, isText || !isOptional, draft.fields.count < Self.maxFields else {
                let what = isFile ? "the file \(described)" : "the field \(described)"
                if draft.leftOut.count < Self.maxFields { draft.leftOut.append("\(what) of the sign-in") }
                continue
            }
            if !isText, draft.format == .json || ["list", "object"].contains(type) {
                draft.leftOut.append("the type of the field \(described) of the sign-in, \(type): it is sent as text")
            }
            let isPassword = type == "secret" || SignInDraft.isPassword(key)
            var field = SignInDraft.Field(
                name: Self.argument(key), keys: path, isPassword: isPassword, isOptional: isOptional && !isPassword)
            let name = field.name
            var number = 2
            while draft.fields.contains(where: { $0.name == field.name }) {
                field.name = "\(name)_\(number)"
                number += 1
            }
            draft.fields.append(field)
        }
    }

    // MARK: OAuth

    /// The first password flow that a profile can have.
    var passwordFlow: (scheme: String, draft: SignInDraft)? {
        for (name, scheme) in securitySchemes {
            guard let flow = Self.passwordFlow(of: scheme),
                let address = flow["tokenUrl"]?.stringValue.flatMap(self.address)
            else { continue }
            let fields = ["username", "password"].map {
                SignInDraft.Field(name: $0, keys: [$0], isPassword: SignInDraft.isPassword($0))
            }
            let renewal = flow["refreshUrl"]?.stringValue.flatMap(self.address)
            return (
                name, SignInDraft(address: address, fields: fields, format: .form, isGrant: true, renewal: renewal)
            )
        }
        return nil
    }

    private static func passwordFlow(of scheme: JSON) -> JSON? {
        guard scheme["type"]?.stringValue == "oauth2" else { return nil }
        return scheme["flows"]?["password"] ?? (scheme["flow"]?.stringValue == "password" ? scheme : nil)
    }

    /// A URL, or a reference that is relative to the base URL.
    private func address(_ text: String) -> SignInDraft.Address? {
        guard let found = DescriptionURL(text, against: base), found.isProtected else { return nil }
        let path = found.path.isEmpty ? "/" : found.path
        guard DescriptionURL.isPath(path), !path.contains("{"), !found.origin.contains("@"), !found.origin.contains("{")
        else { return nil }
        // The base URL may replace the document's server, as another environment of the provider.
        for base in [base, url] {
            if let base, let path = found.path(below: base) { return SignInDraft.Address(path: path) }
        }
        return SignInDraft.Address(host: found.origin, path: path)
    }

    // MARK: Keys

    /// A key or HTTP Basic, if the document has no sign-in with a request.
    var keySignIn: KeyDraft? {
        keyPlace.map { KeyDraft(place: $0, checkPath: userPath ?? openedByKey) }
    }

    var keyPlace: KeyDraft.Place? {
        guard signIn == nil else { return nil }
        return securitySchemes.lazy.compactMap { Self.keyPlace($0.scheme) }.first
    }

    /// Headers with another meaning.
    private static let takenHeaders = [
        "accept", "connection", "content-length", "content-type", "cookie", "dpop", "expect", "host",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// RFC 9110 §5.6.2.
    private static func isToken(_ name: String) -> Bool {
        name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "!#$%&'*+-.^_`|~".contains($0)) }
    }

    private static func keyPlace(_ scheme: JSON) -> KeyDraft.Place? {
        switch (scheme["type"]?.stringValue, scheme["scheme"]?.stringValue?.lowercased()) {
        case ("http", "basic"), ("basic", _): return .basic
        case ("apiKey", _):
            guard let kind = scheme["in"]?.stringValue, ["header", "query", "cookie"].contains(kind),
                let name = scheme["name"]?.stringValue, !name.isEmpty, kind == "query" || isToken(name),
                kind != "header" || !takenHeaders.contains(name.lowercased())
            else { return nil }
            return .parameter(kind, name: name)
        default: return nil
        }
    }

    /// A GET that needs the key and nothing else.
    private var openedByKey: String? {
        endpoints.first { $0.method == "GET" && $0.bearer && $0.arguments.allSatisfy(\.isOptional) }?.path
    }

    private var securitySchemes: [(name: String, scheme: JSON)] {
        let found = isSwagger ? root["securityDefinitions"] : root["components"]?["securitySchemes"]
        return (found?.objectValue ?? [:]).map { ($0, resolved($1)) }
    }

    // MARK: What is left out

    var leftOutSchemes: [String] {
        let key = keySignIn
        let used = passwordFlow?.scheme
        return securitySchemes.flatMap { name, scheme -> [String] in
            if let key, Self.keyPlace(scheme) == key.place { return [] }
            return switch (scheme["type"]?.stringValue, scheme["scheme"]?.stringValue?.lowercased()) {
            case ("http", "bearer"): []
            case ("oauth2", _): leftOutFlows(of: scheme, name, isUsed: name == used)
            case ("apiKey", _): ["the key \(name): see authorization in Docs/profiles.md"]
            case ("http", "basic"), ("basic", _):
                ["HTTP Basic authentication, \(name): see basic in Docs/profiles.md"]
            default: ["the security scheme \(name)"]
            }
        }
    }

    private func leftOutFlows(of scheme: JSON, _ name: String, isUsed: Bool) -> [String] {
        guard isUsed else {
            let reason =
                Self.passwordFlow(of: scheme) == nil || passwordFlow != nil
                ? "they need a profile with issuer or client_id"
                : "the tokenUrl of its password flow must be an https URL without a query"
            return ["the flows of \(name): \(reason)"]
        }
        var words: [String] = []
        let flow = Self.passwordFlow(of: scheme)
        if let scopes = flow?["scopes"]?.objectValue, !scopes.isEmpty {
            words.append("the scopes of \(name) (\(scopes.keys.joined(separator: " "))): add scope = \"…\" to the form")
        }
        if let url = flow?["refreshUrl"]?.stringValue, passwordFlow?.draft.renewal == nil {
            words.append("the refreshUrl of \(name), which must be an https URL without a query: \(url)")
        }
        for (other, _) in scheme["flows"]?.objectValue ?? [:] where other != "password" && !other.hasPrefix("x-") {
            words.append("the flow \(other) of \(name): it needs a profile with issuer or client_id")
        }
        return words
    }
}
