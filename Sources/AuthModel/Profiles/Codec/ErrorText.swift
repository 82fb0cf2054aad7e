package import AuthWire

/// What a provider says about its own error, made harmless to show.
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

    /// With what the challenge says, where the body says nothing. Where the API's metadata is stands in the details.
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

    /// A text; a list of texts, or of objects with a message; or an object of such by field.
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
            let field = ["field", "path", "property", "param"].lazy.compactMap { value[$0]?.stringValue }.first
            return words.map { words in field.map { "\($0): \(words)" } ?? words }
        default: return nil
        }
    }
}

extension AgentError {
    /// Begins the detail that has the address of an API's own metadata (RFC 9728).
    fileprivate static let resourceMetadata = "resource_metadata: "

    /// Whether the API said in its response where it describes itself.
    package var namesResource: Bool { details.contains { $0.hasPrefix(Self.resourceMetadata) } }
}
