import AuthWire

/// Reads from an OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 document what a profile needs.
struct OpenAPIDocument {
    static let methods = ["get", "post", "put", "patch", "delete"]
    /// The most levels of schemas that refer to others with `allOf`: each level needs a part of the stack.
    private static let maxDepth = 32

    let root: JSON
    let isSwagger: Bool
    /// The base URL of the profile. A relative `tokenUrl` is resolved against it.
    var base: String?
    /// Whether the document says which operations need a token; otherwise all of them are assumed to.
    private var describesSecurity = false

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
        describesSecurity = ([root] + operations.map(\.value)).contains { $0["security"]?.arrayValue?.isEmpty == false }
        base = url
    }

    var title: String? { root["info"]?["title"]?.stringValue }

    // MARK: Operations

    struct Operation {
        /// In upper case.
        let method: String
        let path: String
        let value: JSON
        /// With those of the path that it does not replace. Those of the path come first.
        let parameters: [JSON]

        var name: String { "\(method) \(path)" }
    }

    /// The paths, without extensions and those that are described elsewhere.
    var pathItems: [(path: String, item: JSON)] {
        (root["paths"]?.objectValue ?? [:]).compactMap { path, item in
            path.hasPrefix("/") ? (path, resolved(item)) : nil
        }
    }

    var operations: [Operation] {
        pathItems.flatMap { path, item in
            Self.methods.compactMap { method in
                item[method].map { operation in
                    Operation(
                        method: method.uppercased(), path: path, value: operation,
                        parameters: parameters(of: operation, item))
                }
            }
        }
    }

    private func parameters(of operation: JSON, _ item: JSON) -> [JSON] {
        var found: [JSON] = []
        let all = (operation["parameters"]?.arrayValue ?? []) + (item["parameters"]?.arrayValue ?? [])
        for parameter in all.map(resolved) where parameter["name"] != nil {
            if !found.contains(where: { $0["name"] == parameter["name"] && $0["in"] == parameter["in"] }) {
                found.append(parameter)
            }
        }
        return found.filter { $0["in"] == "path" } + found.filter { $0["in"] != "path" }
    }

    /// A request that returns the signed-in user.
    var userPath: String? {
        let known = pathItems
        return [
            "/users/me", "/users/me/", "/user/me", "/me", "/api/me", "/api/users/me", "/api/v1/users/me", "/auth/me",
        ]
        .first { path in known.contains { $0.path == path && $0.item["get"] != nil } }
    }

    /// Whether refused requests are described as FastAPI does: a list with `loc` and `msg`.
    var hasLocatedErrors: Bool { root["components"]?["schemas"]?["HTTPValidationError"] != nil }

    /// Whether an operation needs a token.
    func needsToken(_ operation: Operation) -> Bool {
        (operation.value["security"] ?? root["security"])?.arrayValue.map { !$0.isEmpty } ?? !describesSecurity
    }

    // MARK: Bodies

    enum BodyFormat: String, CaseIterable {
        case json = "application/json"
        case form = "application/x-www-form-urlencoded"
        case multipart = "multipart/form-data"

        /// - Parameter type: a media type, perhaps with parameters (RFC 9110 §8.3.1).
        init?(mediaType type: String) {
            self.init(rawValue: type.prefix { $0 != ";" && $0 != " " }.lowercased())
        }
    }

    struct Body {
        let format: BodyFormat
        /// One of them describes the body.
        let schemas: [JSON]
    }

    /// - Returns: `nil` if there is no body, or none of these formats.
    func body(of operation: Operation) -> Body? {
        if isSwagger { return swaggerBody(of: operation) }
        let content = resolved(operation.value["requestBody"] ?? .null)["content"]
        for format in BodyFormat.allCases {
            guard let found = Self.content(content, as: format) else { continue }
            let schema = resolved(found["schema"] ?? .null)
            guard schema["properties"] == nil, let others = (schema["oneOf"] ?? schema["anyOf"])?.arrayValue else {
                return Body(format: format, schemas: [schema])
            }
            return Body(format: format, schemas: others.map(resolved))
        }
        return nil
    }

    static func content(_ content: JSON?, as format: BodyFormat) -> JSON? {
        content?.objectValue?.first { BodyFormat(mediaType: $0.key) == format }?.value
    }

    /// The format and the member of a refresh token in the request that renews a token.
    /// - Returns: `nil` if the document does not describe that request.
    func refreshBody(at path: String) -> ProfileDraft.RefreshBody? {
        guard let operation = operations.first(where: { $0.method == "POST" && $0.path == path }),
            let body = body(of: operation)
        else { return nil }
        let names = body.schemas.flatMap { resolved($0)["properties"]?.objectValue?.map(\.key) ?? [] }
        return ProfileDraft.RefreshBody(
            format: body.format, member: names.first { $0.filter(\.isLetter).lowercased() == "refreshtoken" })
    }

    /// Swagger 2 has the fields of a form among the parameters.
    private func swaggerBody(of operation: Operation) -> Body? {
        let all = operation.parameters
        if let body = all.first(where: { $0["in"] == "body" }) {
            return Body(format: .json, schemas: [resolved(body["schema"] ?? .null)])
        }
        let fields = all.filter { $0["in"] == "formData" }
        guard !fields.isEmpty else { return nil }
        var properties = JSONObject()
        var required: [JSON] = []
        for field in fields {
            guard let name = field["name"]?.stringValue else { continue }
            properties[name] = field
            if field["required"]?.boolValue == true { required.append(.string(name)) }
        }
        let types = ((operation.value["consumes"] ?? root["consumes"])?.arrayValue ?? []).compactMap(\.stringValue)
        let isMultipart =
            fields.contains { $0["type"] == "file" }
            || (types.contains(BodyFormat.multipart.rawValue) && !types.contains(BodyFormat.form.rawValue))
        return Body(
            format: isMultipart ? .multipart : .form,
            schemas: [["properties": .object(properties), "required": .array(required)]])
    }

    // MARK: Schemas

    /// Follows `$ref` within the document, and merges the members of `allOf`.
    /// - Returns: `.null` if a reference leads nowhere.
    func resolved(_ value: JSON) -> JSON {
        var followed: Set<String> = []
        return resolved(value, &followed, depth: 0)
    }

    /// - Parameter followed: references that add nothing a second time. So the work has a limit, even with cycles.
    private func resolved(_ value: JSON, _ followed: inout Set<String>, depth: Int) -> JSON {
        var value = value
        while let reference = value["$ref"]?.stringValue {
            guard followed.insert(reference).inserted, let found = target(of: reference) else { return .null }
            value = found
        }
        guard var merged = value.objectValue, let all = value["allOf"]?.arrayValue, depth < Self.maxDepth else {
            return value
        }
        var properties = JSONObject()
        var required: [JSON] = []
        merged["allOf"] = nil
        for part in all.map({ resolved($0, &followed, depth: depth + 1) }) + [.object(merged)] {
            for (key, property) in part["properties"]?.objectValue ?? [:] { properties[key] = property }
            required += part["required"]?.arrayValue ?? []
            for key in ["type", "format"] where merged[key] == nil { merged[key] = part[key] }
        }
        if !properties.isEmpty {
            merged["properties"] = .object(properties)
            merged["required"] = .array(required)
        }
        return .object(merged)
    }

    /// What a reference names, if it is in this document.
    func target(of reference: String) -> JSON? {
        guard reference.hasPrefix("#"), let pointer = try? JSONPointer(String(reference.dropFirst())) else {
            return nil
        }
        return pointer.find(in: root)
    }

    /// The type of an argument.
    func argumentType(_ schema: JSON) -> String {
        // 3.1 allows a list of types, one of which may be null.
        let alternatives = ((schema["anyOf"] ?? schema["oneOf"])?.arrayValue ?? []).map(resolved)
        let types = ([schema] + alternatives).map { schema -> JSON? in
            schema["type"] ?? (schema["properties"] == nil ? nil : "object")
        }
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

    /// Whether a part of a multipart body is a file; 3.1 says so with a media type and no encoding.
    static func isFile(_ schema: JSON) -> Bool {
        schema["format"] == "binary" || schema["type"] == "file"
            || (schema["contentMediaType"] != nil && schema["contentEncoding"] == nil)
    }

    // MARK: Names

    /// Placeholders that have another meaning in every profile.
    private static let taken = ["access_token", "environment", "refresh_token"]

    /// A valid name for a placeholder in a template.
    static func argument(_ key: String) -> String {
        let letters = String(key.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        return letters.first?.isLetter == true && !taken.contains(letters) ? letters : "a_" + letters
    }

    static func placeholders(in path: String) -> [String] {
        path.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
            rest.firstIndex(of: "}").map { String(rest[..<$0]) }
        }
    }
}
