import AuthWire

/// Checks the arguments of an endpoint before anything is sent.
struct ArgumentValidator {
    let endpoint: Endpoint
    let providerTitle: String

    /// - Returns: each argument as the JSON of its type; a file's argument is its object.
    /// - Throws: ``ErrorKind/validation`` with a reason for each argument that is missing, unknown or of another type;
    ///   ``ErrorKind/tooLarge`` if the JSON in all strings together has too many values.
    func checked(_ args: JSONObject, hasBody: Bool) throws(AgentError) -> JSONObject {
        var problems: [String] = []
        var result = JSONObject()
        // The limit of the line does not count values in its strings.
        var values = Limits.jsonValues
        for argument in endpoint.arguments {
            guard let given = given(args, argument), !given.isNull else {
                let isInBody = hasBody && !isInHead(argument)
                if !argument.optional, argument.fallback == nil, !isInBody {
                    problems.append("\(argument.name) is required: \(words(argument))")
                }
                continue
            }
            if let value = try read(given, as: argument.type, &values) {
                result[argument.name] = value
            } else {
                problems.append("\(argument.name) should be \(words(argument))")
            }
        }
        for key in args.keys where !endpoint.arguments.contains(where: { $0.name == key }) {
            let near = Suggestion.nearest(to: key, among: endpoint.arguments.map(\.name))
            problems.append("\(key.prefix(Self.quoted)) is unknown" + (near.map { ": did you mean \($0)?" } ?? ""))
        }
        guard problems.isEmpty else { throw refusal(problems) }
        return result
    }

    /// Whitespace counts as absent if the argument is trimmed.
    private func given(_ args: JSONObject, _ argument: EndpointArgument) -> JSON? {
        guard argument.trims, let text = args[argument.name]?.stringValue?.withoutSpaceAround else {
            return args[argument.name]
        }
        return text.isEmpty ? nil : .string(text)
    }

    /// Characters of a name that an error repeats.
    private static let quoted = 64

    private func refusal(_ problems: [String]) -> AgentError {
        let names = endpoint.arguments.map { $0.name + ($0.optional || $0.fallback != nil ? "?" : "") }
        let accepted = names.isEmpty ? "no arguments" : names.joined(separator: ", ")
        return AgentError(
            .validation, "\(endpoint.name) of \(providerTitle) accepts \(accepted). Nothing was sent.",
            cause: "arguments", details: problems)
    }

    /// In the path, the query or a header: a body given as a whole does not replace it.
    private func isInHead(_ argument: EndpointArgument) -> Bool {
        let request = endpoint.request
        return (request.path.placeholders + (request.query + request.headers).flatMap(\.value.placeholders))
            .contains(argument.name)
    }

    private func words(_ argument: EndpointArgument) -> String {
        let kind =
            switch argument.type {
            case .text: "text"
            case .path: "a path"
            case .integer: "a whole number"
            case .number: "a number"
            case .boolean: "true or false"
            case .list: "a list"
            case .object: "an object"
            case .file: "a file"
            }
        return argument.about.map { "\(kind), \($0)" } ?? kind
    }

    /// Command lines have strings only, so a string that parses as the type is accepted. A number is never accepted as a
    /// string: a code that became a number has lost its leading zeros.
    /// - Parameter values: how many JSON values strings may still have.
    private func read(_ value: JSON, as type: ArgumentType, _ values: inout Int) throws(AgentError) -> JSON? {
        switch type {
        case .text, .path: return value.stringValue.map(JSON.string)
        case .integer: return (value.integerValue ?? value.stringValue.flatMap { Int64($0) }).map(JSON.integer)
        case .number:
            guard let text = value.stringValue else { return value.doubleValue == nil ? nil : value }
            let number = try? JSON(parsing: text, values: 1)
            return number?.doubleValue == nil ? nil : number
        case .boolean:
            if let text = value.stringValue { return text == "true" ? true : text == "false" ? false : nil }
            return value.boolValue.map(JSON.bool)
        case .list: return try parsed(value, &values).flatMap { $0.arrayValue == nil ? nil : $0 }
        case .object: return try parsed(value, &values).flatMap { $0.objectValue == nil ? nil : $0 }
        case .file: return value["body_base64"]?.stringValue == nil && value["body_stream"] == nil ? nil : value
        }
    }

    private func parsed(_ value: JSON, _ values: inout Int) throws(AgentError) -> JSON? {
        guard let text = value.stringValue else { return value }
        do throws(JSONError) {
            return try JSON(parsing: text, subtractingFrom: &values)
        } catch {
            guard error.isTooLarge else { return nil }
            throw AgentError(
                .tooLarge,
                "The arguments of \(endpoint.name) have more than \(Limits.jsonValues) JSON values. Nothing was sent.",
                cause: "arguments")
        }
    }
}
