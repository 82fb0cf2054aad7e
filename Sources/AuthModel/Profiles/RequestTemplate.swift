package import AuthWire

/// A request with placeholders.
package struct RequestTemplate: Sendable, Equatable {
    package var method: String
    /// Appended to the environment's base URL; values are percent-encoded.
    package var path: Template
    package var query: [TemplateField]
    package var headers: [TemplateField]
    /// `Authorization: Bearer` with the session's access token.
    package var bearer: Bool
    /// JSON; its strings may contain placeholders, and a member whose placeholder has no value is left out.
    package var body: BodyTemplate?

    package init(
        method: String, path: Template, query: [TemplateField] = [], headers: [TemplateField] = [],
        bearer: Bool = false, body: BodyTemplate? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.bearer = bearer
        self.body = body
    }
}

/// A header field or query parameter, left out if a placeholder has no value.
package struct TemplateField: Sendable, Equatable {
    package var name: String
    package var value: Template

    package init(name: String, value: Template) {
        self.name = name
        self.value = value
    }
}

/// A JSON value whose strings may contain placeholders.
package indirect enum BodyTemplate: Sendable, Equatable {
    case object([(name: String, value: BodyTemplate)])
    case array([BodyTemplate])
    case text(Template)
    case literal(JSON)

    package static func == (left: BodyTemplate, right: BodyTemplate) -> Bool {
        switch (left, right) {
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) { $0.name == $1.name && $0.value == $1.value }
        case (.array(let one), .array(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.literal(let one), .literal(let other)): one == other
        default: false
        }
    }
}

extension RequestTemplate {
    /// All placeholders, in no particular order; one may occur twice.
    package var placeholders: [String] {
        path.placeholders + query.flatMap(\.value.placeholders) + headers.flatMap(\.value.placeholders)
            + (body?.placeholders ?? [])
    }

    /// Whether a request may be repeated after it may have been carried out: because of its method (RFC 9110 §9.2.2), or
    /// because its `Idempotency-Key` identifies it.
    package static func mayRepeat(method: String, headers: [String]) -> Bool {
        ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
            || headers.contains { $0.lowercased() == "idempotency-key" }
    }
}

extension BodyTemplate {
    package var placeholders: [String] {
        switch self {
        case .object(let members): members.flatMap(\.value.placeholders)
        case .array(let elements): elements.flatMap(\.placeholders)
        case .text(let template): template.placeholders
        case .literal: []
        }
    }
}
