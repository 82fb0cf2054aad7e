import AuthWire

/// Calls by name.
extension OpenAPIDocument {
    /// All endpoints that a profile can have, with unique names.
    var endpoints: [EndpointDraft] {
        var found: [EndpointDraft] = []
        let key = keyPlace
        for operation in operations where DescriptionURL.isPath(operation.path) {
            var draft = endpoint(operation, key)
            var number = 2
            let name = draft.name
            while found.contains(where: { $0.name == draft.name }) {
                draft.name = "\(name)-\(number)"
                number += 1
            }
            found.append(draft)
        }
        return found
    }

    private func endpoint(_ operation: Operation, _ signInKey: KeyDraft.Place?) -> EndpointDraft {
        let name = Self.name(operation.value["operationId"]?.stringValue ?? operation.name)
        var draft = EndpointDraft(
            name: name, about: operation.value["summary"]?.stringValue, method: operation.method, path: operation.path)
        draft.bearer = needsToken(operation)
        let places = Self.placeholders(in: operation.path)
        var described: Set<String> = []
        for parameter in operation.parameters {
            guard let key = parameter["name"]?.stringValue, let place = parameter["in"]?.stringValue else { continue }
            let isInPath = place == "path" && places.contains(key)
            guard isInPath || place == "query" else { continue }
            // The agent sends the key itself.
            if place == "query", signInKey == .parameter(place, name: key) { continue }
            // Outside of a body every value is a text or a number.
            let type = argumentType(resolved(parameter["schema"] ?? parameter))
            let plain = ["list", "object", "secret"].contains(type) ? "text" : type
            let isOptional = !isInPath && parameter["required"]?.boolValue != true
            let argument = draft.add(
                EndpointDraft.Argument(name: Self.argument(key), type: plain, isOptional: isOptional))
            if isInPath {
                draft.path = draft.path.replacing("{\(key)}", with: "{\(argument)}")
                described.insert(key)
            } else {
                draft.query.append((key, argument))
            }
        }
        // A document may not list a placeholder of the path, which is required all the same.
        for key in places where described.insert(key).inserted {
            let argument = draft.add(EndpointDraft.Argument(name: Self.argument(key), type: "text"))
            draft.path = draft.path.replacing("{\(key)}", with: "{\(argument)}")
        }
        guard draft.method != "GET", let body = body(of: operation) else { return draft }
        let schema = body.schemas.first { $0["properties"]?.objectValue?.isEmpty == false }
        add(schema ?? .null, to: &draft, as: body.format)
        return draft
    }

    private func add(_ schema: JSON, to draft: inout EndpointDraft, as format: BodyFormat) {
        guard let properties = schema["properties"]?.objectValue else {
            draft.note = "The document does not describe the body: add body = { key = \"{argument}\" }."
            return
        }
        let required = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
        for (key, value) in properties {
            let property = resolved(value)
            guard property["readOnly"]?.boolValue != true else { continue }
            var type = argumentType(property)
            let isFile = format == .multipart && (Self.isFile(property) || isFiles(property))
            switch format {
            case .multipart: type = isFile ? "file" : ["list", "object"].contains(type) ? "text" : type
            case .form: if type == "object" { type = "text" }
            case .json: break
            }
            let argument = draft.add(
                EndpointDraft.Argument(name: Self.argument(key), type: type, isOptional: !required.contains(key)))
            switch format {
            case .multipart: draft.parts.append((key, argument, isFile))
            case .form: draft.form.append((key, argument))
            case .json: draft.body.append((key, argument))
            }
        }
    }

    /// A list of files.
    func isFiles(_ schema: JSON) -> Bool {
        schema["type"] == "array" && Self.isFile(resolved(schema["items"] ?? .null))
    }

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
            if letter.isUppercase, wasLower, name.count < 59 { name += "-" }
            if name.count < 60 { name += letter.lowercased() }
            wasLower = letter.isLowercase || letter.isNumber
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? "call" : name
    }
}

extension EndpointDraft {
    /// Adds an argument, or uses the one that has its name and type.
    /// - Returns: its name, which differs if another argument has the same one.
    fileprivate mutating func add(_ argument: Argument) -> String {
        var argument = argument
        let name = argument.name
        var number = 2
        while let index = arguments.firstIndex(where: { $0.name == argument.name }) {
            if arguments[index].type == argument.type {
                if !argument.isOptional { arguments[index].isOptional = false }
                return argument.name
            }
            argument.name = "\(name)_\(number)"
            number += 1
        }
        arguments.append(argument)
        return argument.name
    }
}
