import AuthWire

/// Reads from an OpenAPI 3.0 or 3.1 document (JSON) what a profile needs.
struct OpenAPIDocument {
    private static let methods = ["get", "post", "put", "patch", "delete"]
    /// Limits a reference that refers to itself.
    private static let maxReferences = 16

    private let root: JSON

    init(_ bytes: [UInt8], named name: String) throws(Failure) {
        guard let root = try? JSON(parsing: bytes) else {
            throw .usage("\(name) is not JSON", hint: "convert a YAML document to JSON first")
        }
        guard root["openapi"]?.stringValue?.hasPrefix("3.") == true, root["paths"]?.objectValue != nil else {
            throw .usage("\(name) is not an OpenAPI 3 document: it needs \"openapi\": \"3.…\" and \"paths\"")
        }
        self.root = root
    }

    var title: String? { root["info"]?["title"]?.stringValue }

    /// The first server's, if it is a whole URL.
    var url: String? {
        guard let url = root["servers"]?.arrayValue?.first?["url"]?.stringValue, url.contains("://") else { return nil }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Path and fields of the first operation that looks like a sign-in: it has a password field.
    var signIn: (path: String, fields: [String])? {
        let words = ["login", "signin", "sign-in", "session", "token"]
        for (path, item) in root["paths"]?.objectValue ?? [:] where words.contains(where: path.lowercased().contains) {
            guard let operation = item["post"], let schema = json(bodyOf: operation),
                let properties = schema["properties"]?.objectValue, properties["password"] != nil
            else { continue }
            return (path, properties.map(\.key))
        }
        return nil
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
        draft.bearer = operation["security"]?.arrayValue?.isEmpty != true
        let parameters = (item["parameters"]?.arrayValue ?? []) + (operation["parameters"]?.arrayValue ?? [])
        for parameter in parameters.map(resolved) {
            guard let key = parameter["name"]?.stringValue, let place = parameter["in"]?.stringValue else { continue }
            let argument = Self.argument(key)
            // Outside of a body every value is a text or a number.
            let type = Self.type(resolved(parameter["schema"] ?? .null))
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
        if let schema = json(bodyOf: operation) {
            add(schema, to: &draft, asForm: false)
        } else if let schema = form(of: operation) {
            add(schema, to: &draft, asForm: true)
        }
        return draft
    }

    private func add(_ schema: JSON, to draft: inout EndpointDraft, asForm: Bool) {
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
            if asForm {
                let isFile = property["format"] == "binary"
                type = isFile ? "file" : ["list", "object"].contains(type) ? "text" : type
                draft.parts.append((key, argument, isFile))
            } else {
                draft.body.append((key, argument))
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

    private func json(bodyOf operation: JSON) -> JSON? { schema(of: operation, "application/json") }

    private func form(of operation: JSON) -> JSON? { schema(of: operation, "multipart/form-data") }

    private func schema(of operation: JSON, _ type: String) -> JSON? {
        let body = resolved(operation["requestBody"] ?? .null)
        return (body["content"]?[type]?["schema"]).map(resolved)
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
        let type =
            schema["type"]?.stringValue
            ?? schema["type"]?.arrayValue?.compactMap(\.stringValue).first { $0 != "null" }
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

extension EndpointDraft {
    /// Ignores a second argument with the same name.
    fileprivate mutating func add(_ argument: Argument) {
        guard !arguments.contains(where: { $0.name == argument.name }) else { return }
        arguments.append(argument)
    }
}
