import AuthWire

/// Reads from an OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 document what a profile needs.
struct OpenAPIDocument {
    private static let methods = ["get", "post", "put", "patch", "delete"]
    private static let otherMethods = ["head", "options", "trace"]
    /// Limits a reference that refers to itself.
    private static let maxReferences = 16

    private let root: JSON
    private let isSwagger: Bool
    /// Whether the document says which operations need a token; otherwise all of them are assumed to.
    private let describesSecurity: Bool

    /// - Parameter bytes: JSON or YAML.
    init(_ bytes: [UInt8], named name: String) throws(Failure) {
        let root: JSON
        do throws(YAMLError) {
            root = if let json = try? JSON(parsing: bytes) { json } else { try YAMLDocument.read(bytes) }
        } catch {
            throw .usage("\(name) is neither JSON nor YAML: \(error.reason)")
        }
        // YAML without quotation marks gives a number.
        isSwagger = root["swagger"]?.stringValue == "2.0" || root["swagger"]?.doubleValue == 2
        guard isSwagger || root["openapi"]?.stringValue?.hasPrefix("3.") == true, root["paths"]?.objectValue != nil
        else {
            throw .usage(
                "\(name) is not an OpenAPI document: it needs \"openapi\": \"3.…\" or \"swagger\": \"2.0\", and \"paths\""
            )
        }
        self.root = root
        let operations = (root["paths"]?.objectValue ?? [:]).flatMap { _, item in Self.methods.compactMap { item[$0] } }
        describesSecurity = ([root] + operations).contains { $0["security"]?.arrayValue?.isEmpty == false }
    }

    var title: String? { root["info"]?["title"]?.stringValue }

    /// The first server's, if it is a whole URL.
    var url: String? {
        if isSwagger {
            guard let host = root["host"]?.stringValue else { return nil }
            let schemes = root["schemes"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let base = root["basePath"]?.stringValue ?? ""
            let url = (schemes.contains("http") && !schemes.contains("https") ? "http://" : "https://") + host + base
            return url.hasSuffix("/") ? String(url.dropLast()) : url
        }
        guard let url = root["servers"]?.arrayValue?.first?["url"]?.stringValue, url.contains("://") else { return nil }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// The sign-in of a password flow of OAuth (RFC 6749 §4.3), if the document has one, or else the first operation that
    /// looks like a sign-in: it has a password field.
    var signIn: SignInDraft? {
        if let (path, host) = passwordFlow {
            return SignInDraft(path: path, host: host, fields: ["username", "password"], isGrant: true)
        }
        let words = ["login", "signin", "sign-in", "session", "token"]
        for (path, item) in root["paths"]?.objectValue ?? [:] where words.contains(where: path.lowercased().contains) {
            guard let operation = item["post"] else { continue }
            let (format, schema) = body(of: operation, item)
            guard let properties = schema["properties"]?.objectValue, properties["password"] != nil,
                format != .multipart
            else { continue }
            return SignInDraft(path: path, fields: properties.map(\.key), isForm: format == .form)
        }
        return nil
    }

    /// The path of a `tokenUrl`, which may be relative to the address of the API, and its origin if that is another one.
    private var passwordFlow: (path: String, host: String?)? {
        for scheme in securitySchemes.map(\.scheme) where scheme["type"]?.stringValue == "oauth2" {
            let isPassword = scheme["flow"]?.stringValue == "password"
            guard let text = (scheme["flows"]?["password"] ?? (isPassword ? scheme : .null))["tokenUrl"]?.stringValue,
                !text.contains("?"), !text.contains("#")
            else { continue }
            guard let mark = text.firstRange(of: "://") else { return (text.hasPrefix("/") ? text : "/" + text, nil) }
            if let url, text.hasPrefix(url + "/") { return (String(text.dropFirst(url.count)), nil) }
            guard let slash = text[mark.upperBound...].firstIndex(of: "/") else { continue }
            return (String(text[slash...]), String(text[..<slash]))
        }
        return nil
    }

    /// A key or HTTP Basic, if the document has no sign-in with a request.
    var keySignIn: KeyDraft? {
        guard signIn == nil else { return nil }
        return securitySchemes.lazy.compactMap { Self.keyPlace($0.scheme) }.first.map { place in
            KeyDraft(place: place, checkPath: userPath ?? openedByKey)
        }
    }

    private static func keyPlace(_ scheme: JSON) -> KeyDraft.Place? {
        switch (scheme["type"]?.stringValue, scheme["scheme"]?.stringValue?.lowercased()) {
        case ("http", "basic"), ("basic", _): return .basic
        case ("apiKey", _):
            guard let kind = scheme["in"]?.stringValue, ["header", "query", "cookie"].contains(kind),
                let name = scheme["name"]?.stringValue
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

    /// A request that returns the signed-in user.
    var userPath: String? {
        ["/users/me", "/users/me/", "/user/me", "/me", "/api/me", "/api/users/me", "/api/v1/users/me", "/auth/me"].first
        {
            root["paths"]?[$0]?["get"] != nil
        }
    }

    /// Whether refused requests are described as FastAPI does: a list with `loc` and `msg`.
    var hasLocatedErrors: Bool { root["components"]?["schemas"]?["HTTPValidationError"] != nil }

    /// What the profile does not say although the document does.
    var leftOut: [String] {
        let key = keySignIn
        var words = securitySchemes.compactMap { name, scheme -> String? in
            if let key, Self.keyPlace(scheme) == key.place { return nil }
            return switch (scheme["type"]?.stringValue, scheme["scheme"]?.stringValue?.lowercased()) {
            case ("http", "bearer"): nil
            case ("oauth2", _):
                (scheme["flows"]?["password"] != nil || scheme["flow"]?.stringValue == "password")
                    && passwordFlow != nil
                    ? nil : "the flows of \(name): they need a profile with issuer or client_id"
            case ("apiKey", _): "the key \(name): see authorization in Docs/profiles.md"
            case ("http", "basic"), ("basic", _): "HTTP Basic authentication, \(name): see basic in Docs/profiles.md"
            default: "the security scheme \(name)"
            }
        }
        if (root["servers"]?.arrayValue?.count ?? 0) > 1 { words.append("all servers but the first") }
        for (path, item) in root["paths"]?.objectValue ?? [:] {
            for method in Self.otherMethods where item[method] != nil { words.append("\(method.uppercased()) \(path)") }
            for method in Self.methods {
                guard let operation = item[method] else { continue }
                let parameters = self.parameters(operation, item).filter {
                    ["header", "cookie"].contains($0["in"]?.stringValue)
                }
                for name in parameters.compactMap({ $0["name"]?.stringValue }) {
                    words.append("the parameter \(name) of \(method.uppercased()) \(path)")
                }
                if method != "get", let type = unknownBody(of: operation) {
                    words.append("the body of \(method.uppercased()) \(path), which is \(type)")
                }
            }
        }
        return words
    }

    /// All endpoints, with unique names.
    var endpoints: [EndpointDraft] {
        var found: [EndpointDraft] = []
        for (path, item) in root["paths"]?.objectValue ?? [:] {
            for method in Self.methods {
                guard let operation = item[method] else { continue }
                var draft = endpoint(method, path, item, operation)
                var number = 2
                let name = draft.name
                while found.contains(where: { $0.name == draft.name }) {
                    draft.name = "\(name)-\(number)"
                    number += 1
                }
                found.append(draft)
            }
        }
        return found
    }

    private func endpoint(_ method: String, _ path: String, _ item: JSON, _ operation: JSON) -> EndpointDraft {
        let name = Self.name(operation["operationId"]?.stringValue ?? "\(method) \(path)")
        var draft = EndpointDraft(
            name: name, about: operation["summary"]?.stringValue, method: method.uppercased(), path: path)
        let needs = (operation["security"] ?? root["security"])?.arrayValue
        draft.bearer = needs.map { !$0.isEmpty } ?? !describesSecurity
        for parameter in parameters(operation, item) {
            guard let key = parameter["name"]?.stringValue, let place = parameter["in"]?.stringValue else { continue }
            let argument = Self.argument(key)
            // Outside of a body every value is a text or a number.
            let type = Self.type(resolved(parameter["schema"] ?? parameter))
            let plain = ["list", "object", "secret"].contains(type) ? "text" : type
            switch place {
            case "path": draft.path = draft.path.replacing("{\(key)}", with: "{\(argument)}")
            case "query": draft.query.append((key, argument))
            default: continue
            }
            let isRequired = place == "path" || parameter["required"]?.boolValue == true
            draft.add(EndpointDraft.Argument(name: argument, type: plain, isOptional: !isRequired))
        }
        // A document may not list a placeholder of the path, which is required all the same.
        for key in Self.placeholders(in: path) {
            let argument = Self.argument(key)
            draft.path = draft.path.replacing("{\(key)}", with: "{\(argument)}")
            draft.add(EndpointDraft.Argument(name: argument, type: "text"))
        }
        guard draft.method != "GET" else { return draft }
        let (format, schema) = body(of: operation, item)
        if let format { add(schema, to: &draft, as: format) }
        return draft
    }

    private func add(_ schema: JSON, to draft: inout EndpointDraft, as format: BodyFormat) {
        guard let properties = schema["properties"]?.objectValue, !properties.isEmpty else {
            draft.note = "The document does not describe the body: add body = { key = \"{argument}\" }."
            return
        }
        let required = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        for (key, value) in properties {
            let property = resolved(value)
            guard property["readOnly"]?.boolValue != true else { continue }
            let argument = Self.argument(key)
            var type = Self.type(property)
            switch format {
            case .multipart:
                let isFile = property["format"] == "binary" || property["type"] == "file"
                type = isFile ? "file" : ["list", "object"].contains(type) ? "text" : type
                draft.parts.append((key, argument, isFile))
            case .form:
                if type == "object" { type = "text" }
                draft.form.append((key, argument))
            case .json: draft.body.append((key, argument))
            }
            draft.add(EndpointDraft.Argument(name: argument, type: type, isOptional: !required.contains(key)))
        }
    }

    private static func placeholders(in path: String) -> [String] {
        path.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.firstIndex(of: "}").map { String(rest[..<$0]) }
        }
    }

    // MARK: Schemas

    private enum BodyFormat: String, CaseIterable {
        case json = "application/json"
        case form = "application/x-www-form-urlencoded"
        case multipart = "multipart/form-data"
    }

    private func parameters(_ operation: JSON, _ item: JSON) -> [JSON] {
        ((item["parameters"]?.arrayValue ?? []) + (operation["parameters"]?.arrayValue ?? [])).map(resolved)
    }

    /// - Returns: no format if there is no body, or none of these.
    private func body(of operation: JSON, _ item: JSON) -> (format: BodyFormat?, schema: JSON) {
        if isSwagger { return swaggerBody(of: operation, item) }
        let content = resolved(operation["requestBody"] ?? .null)["content"]
        for format in BodyFormat.allCases {
            if let found = content?[format.rawValue] { return (format, resolved(found["schema"] ?? .null)) }
        }
        return (nil, .null)
    }

    private func unknownBody(of operation: JSON) -> String? {
        let types = resolved(operation["requestBody"] ?? .null)["content"]?.objectValue?.map(\.key) ?? []
        return types.contains { BodyFormat(rawValue: $0) != nil } ? nil : types.first
    }

    /// Swagger 2 has the fields of a form among the parameters.
    private func swaggerBody(of operation: JSON, _ item: JSON) -> (format: BodyFormat?, schema: JSON) {
        let all = parameters(operation, item)
        if let body = all.first(where: { $0["in"] == "body" }) { return (.json, resolved(body["schema"] ?? .null)) }
        let fields = all.filter { $0["in"] == "formData" }
        guard !fields.isEmpty else { return (nil, .null) }
        var properties = JSONObject()
        var required: [JSON] = []
        for field in fields {
            guard let name = field["name"]?.stringValue else { continue }
            properties[name] = field
            if field["required"]?.boolValue == true { required.append(.string(name)) }
        }
        let types = ((operation["consumes"] ?? root["consumes"])?.arrayValue ?? []).compactMap(\.stringValue)
        let isMultipart =
            fields.contains { $0["type"] == "file" }
            || (types.contains(BodyFormat.multipart.rawValue) && !types.contains(BodyFormat.form.rawValue))
        return (isMultipart ? .multipart : .form, ["properties": .object(properties), "required": .array(required)])
    }

    /// Follows `$ref` within the document, and merges the members of an `allOf`.
    private func resolved(_ value: JSON) -> JSON {
        var value = value
        for _ in 0..<Self.maxReferences {
            guard let reference = value["$ref"]?.stringValue else { break }
            guard reference.hasPrefix("#"), let pointer = try? JSONPointer(String(reference.dropFirst())),
                let found = pointer.find(in: root)
            else { return .null }
            value = found
        }
        guard let all = value["allOf"]?.arrayValue else { return value }
        var properties = JSONObject()
        var required: [JSON] = []
        for part in all where part["allOf"] == nil {
            let part = resolved(part)
            for (key, property) in part["properties"]?.objectValue ?? [:] { properties[key] = property }
            required += part["required"]?.arrayValue ?? []
        }
        return ["properties": .object(properties), "required": .array(required)]
    }

    private static func type(_ schema: JSON) -> String {
        // 3.1 allows a list of types, one of which may be null.
        let alternatives = (schema["anyOf"] ?? schema["oneOf"])?.arrayValue ?? []
        let types = [schema["type"]] + alternatives.map { $0["type"] }
        let type = types.compactMap {
            $0?.stringValue ?? $0?.arrayValue?.compactMap(\.stringValue).first { $0 != "null" }
        }
        .first { $0 != "null" }
        return switch type {
        case "integer": "integer"
        case "number": "number"
        case "boolean": "boolean"
        case "array": "list"
        case "object": "object"
        default: schema["format"] == "password" ? "secret" : "text"
        }
    }

    // MARK: Names

    /// `listUserPosts` and `GET /users/{id}` as `list-user-posts` and `get-users-id`.
    private static func name(_ text: String) -> String {
        var name = ""
        var wasLower = false
        for letter in text.prefix(60) {
            guard letter.isASCII, letter.isLetter || letter.isNumber else {
                if !name.isEmpty, name.last != "-" { name += "-" }
                wasLower = false
                continue
            }
            if letter.isUppercase, wasLower { name += "-" }
            name += letter.lowercased()
            wasLower = letter.isLowercase || letter.isNumber
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? "call" : name
    }

    /// A valid name for a placeholder in a template.
    private static func argument(_ key: String) -> String {
        let letters = key.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return letters.first?.isLetter == true ? String(letters) : "a_" + String(letters)
    }
}

/// The request of a sign-in, as far as a document describes it.
struct SignInDraft {
    var path: String
    /// An origin that is not the API's.
    var host: String?
    var fields: [String]
    var isForm = false
    /// A token request with the password grant (RFC 6749 §4.3.2): a form with fixed names, whose response has them too.
    var isGrant = false
}

extension EndpointDraft {
    /// Ignores a second argument with the same name.
    fileprivate mutating func add(_ argument: Argument) {
        guard !arguments.contains(where: { $0.name == argument.name }) else { return }
        arguments.append(argument)
    }
}
