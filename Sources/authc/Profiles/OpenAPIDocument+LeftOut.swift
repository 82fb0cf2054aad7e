import AuthWire

/// What the profile does not say although the document does.
extension OpenAPIDocument {
    private static let otherMethods = ["head", "options", "trace"]

    var leftOut: [String] {
        var words = leftOutSchemes + leftOutServers
        words += (root["webhooks"]?.objectValue ?? [:]).map { "the webhook \($0.key)" }
        for (path, item) in root["paths"]?.objectValue ?? [:] where path.hasPrefix("/") {
            if let reference = unknown(item) { words.append("the path \(path) at \(reference)") }
        }
        for (path, item) in pathItems {
            words += Self.otherMethods.filter { item[$0] != nil }.map { "\($0.uppercased()) \(path)" }
            words += references(item["parameters"]).map { "a parameter of \(path) at \($0)" }
        }
        let signIn = signIn
        words += signIn?.leftOut ?? []
        return words + operations.flatMap { leftOut(of: $0, signIn) }
    }

    private func leftOut(of operation: Operation, _ signIn: SignInDraft?) -> [String] {
        let name = operation.name
        guard DescriptionURL.isPath(operation.path) else { return ["\(name), which is not a valid path"] }
        var words = references(operation.value["parameters"]).map { "a parameter of \(name) at \($0)" }
        if operation.value["callbacks"] != nil { words.append("the callbacks of \(name)") }
        let isSignIn = signIn?.address.host == nil && signIn?.path == operation.path && operation.method == "POST"
        for parameter in operation.parameters {
            guard let key = parameter["name"]?.stringValue, let place = parameter["in"]?.stringValue else { continue }
            if place == "header" || place == "cookie" || (place == "query" && isSignIn) {
                words.append("the parameter \(key) of \(name)")
            } else if place == "query", let form = form(of: parameter) {
                words.append("the form of the parameter \(key) of \(name), \(form): it is sent as one text")
            }
        }
        return operation.method == "GET" ? words : words + leftOutBody(of: operation, isSignIn: isSignIn)
    }

    /// How a parameter of the query has several values.
    private func form(of parameter: JSON) -> String? {
        if parameter["style"] == "deepObject" { return "an object (deepObject)" }
        switch argumentType(resolved(parameter["schema"] ?? parameter)) {
        case "list": return "a list"
        case "object": return "an object"
        default: return parameter["content"] == nil ? nil : "a document"
        }
    }

    /// - Parameter isSignIn: whether the draft of the sign-in already reports its members.
    private func leftOutBody(of operation: Operation, isSignIn: Bool) -> [String] {
        let name = operation.name
        let described = operation.value["requestBody"] ?? .null
        if let reference = unknown(described) { return ["the body of \(name) at \(reference)"] }
        if let type = unknownType(of: described) { return ["the body of \(name), which is \(type)"] }
        guard let body = body(of: operation) else { return [] }
        var words: [String] = []
        let content: JSON? = isSwagger ? nil : Self.content(resolved(described)["content"], as: body.format)
        let schema = content?["schema"] ?? operation.parameters.first { $0["in"] == "body" }?["schema"] ?? .null
        let parts = ["allOf", "anyOf", "oneOf"].flatMap { schema[$0]?.arrayValue ?? [] }
        for reference in ([schema] + parts).compactMap(unknown) {
            words.append("the body of \(name) at \(reference)")
        }
        if body.schemas.count > 1 { words.append("all alternatives of the body of \(name) but one") }
        let found = body.schemas.first { $0["properties"]?.objectValue?.isEmpty == false }
        for (key, value) in found?["properties"]?.objectValue ?? [:] {
            if let reference = unknown(value) {
                words.append("the type of \(key) in the body of \(name) at \(reference)")
            }
            let property = resolved(value)
            if let encoding = property["contentEncoding"]?.stringValue {
                words.append("the encoding of \(key) in the body of \(name): give the value as \(encoding)")
            }
            guard body.format == .multipart, !isSignIn else { continue }
            if isFiles(property) {
                words.append("all files of \(key) in the body of \(name) but one")
            } else if ["list", "object"].contains(argumentType(property)) {
                words.append("the form of \(key) in the body of \(name): it is sent as one text")
            }
        }
        return words
    }

    private func unknownType(of body: JSON) -> String? {
        let types = resolved(body)["content"]?.objectValue?.map(\.key) ?? []
        return types.contains { BodyFormat(mediaType: $0) != nil } ? nil : types.first
    }

    private func references(_ list: JSON?) -> [String] { (list?.arrayValue ?? []).compactMap(unknown) }

    /// A reference that leads nowhere, and why.
    private func unknown(_ value: JSON) -> String? {
        var value = value
        var followed: Set<String> = []
        while let reference = value["$ref"]?.stringValue {
            guard followed.insert(reference).inserted else { return "\(reference), which refers to itself" }
            guard let found = target(of: reference) else { return "\(reference), which is not in this document" }
            value = found
        }
        return nil
    }
}
