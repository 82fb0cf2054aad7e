package import AuthWire

/// The provider's own error message, made safe to show.
struct ErrorText {
    var message: String?
    var code: String?
    var details: [String]

    init(_ body: ResponseBody, map: ErrorMap) {
        details = []
        guard let json = body.json else { return }
        code = map.code?.find(in: json).flatMap(Self.code)
        details = map.details?.find(in: json).map(Self.list) ?? []
        if let text = json.stringValue {
            message = ProviderText.clean(text)
            return
        }
        for pointer in map.message {
            guard let found = pointer.find(in: json) else { continue }
            let list = Self.list(found)
            guard let first = list.first else { continue }
            message = ProviderText.clean(list.joined(separator: "; ")) ?? first
            if list.count > 1, details.isEmpty { details = list }
            break
        }
        message = message ?? ProviderText.clean(details.joined(separator: "; "))
    }

    /// Completed by the challenge. The address of the API's metadata is added to the details.
    func completed(by challenge: TokenChallenge?) -> ErrorText {
        guard let challenge else { return self }
        var words = self
        words.code = code ?? challenge.error
        words.message = message ?? challenge.description
        if let place = challenge.resourceMetadata { words.details.append(AgentError.resourceMetadata + place) }
        return words
    }

    private static func code(_ value: JSON) -> String? {
        value.stringValue ?? value.integerValue.map { String($0) }
    }

    /// A string; a list of strings or of objects with a message; or an object of those by field.
    private static func list(_ value: JSON) -> [String] {
        let texts: [String]
        switch value {
        case .string(let text): texts = [text]
        case .array(let elements): texts = elements.prefix(ProviderText.maxDetails).compactMap(text)
        case .object(let object):
            texts = object.prefix(ProviderText.maxDetails).compactMap { member in
                text(member.value).map { "\(member.key): \($0)" }
            }
        default: texts = []
        }
        return texts.compactMap(ProviderText.clean)
    }

    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): return text
        case .array(let elements):
            let texts = elements.prefix(ProviderText.maxDetails).compactMap(\.stringValue)
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        case .object:
            let words = ["message", "msg", "error", "description"].lazy.compactMap { value[$0]?.stringValue }.first
            let field =
                ["field", "path", "property", "param"].lazy.compactMap { value[$0]?.stringValue }.first
                ?? value["loc"]?.arrayValue.flatMap(place)
            return words.map { words in field.map { "\($0): \(words)" } ?? words }
        default: return nil
        }
    }

    /// The parts of a request that the place of a field begins with.
    private static let partsOfRequest = ["body", "query", "path", "header", "cookie"]

    /// A list of names and numbers, such as `["body", "items", 0, "name"]`, as `items.0.name`.
    private static func place(_ steps: [JSON]) -> String? {
        var names = steps.prefix(ProviderText.maxDetails).compactMap {
            $0.stringValue ?? $0.integerValue.map { "\($0)" }
        }
        if names.count > 1, partsOfRequest.contains(names[0]) { names.removeFirst() }
        return names.isEmpty ? nil : names.joined(separator: ".")
    }
}

extension AgentError {
    /// The prefix of the detail with the address of an API's metadata (RFC 9728).
    fileprivate static let resourceMetadata = "resource_metadata: "

    /// Whether the API's response named its metadata.
    package var namesResource: Bool { details.contains { $0.hasPrefix(Self.resourceMetadata) } }
}
