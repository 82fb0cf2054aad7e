package import AuthWire

/// A request with placeholders.
package struct RequestTemplate: Sendable, Equatable {
    package var method: String
    /// One of ``ProviderProfile/hosts``; `nil`: the environment's base URL.
    package var host: String?
    /// Appended to the environment's base URL; values are percent-encoded.
    package var path: Template
    package var query: [TemplateField]
    package var headers: [TemplateField]
    package var authorization: RequestAuthorization
    package var body: RequestBody?

    /// Values of the response to a request of a sign-in, for later ones.
    package var captures: [Capture] = []

    package init(
        method: String, path: Template, query: [TemplateField] = [], headers: [TemplateField] = [],
        bearer: Bool = false, body: RequestBody? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        authorization = bearer ? .accessToken : .none
        self.body = body
    }
}

/// What authorizes a request, besides its own headers.
package enum RequestAuthorization: Sendable, Equatable {
    case none
    /// The session's access token, at the profile's ``TokenPlace``.
    case accessToken
    /// A name and a password (RFC 7617); a password without a value is empty.
    case basic(user: Template, password: Template)
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

/// What a request sends, and in which format. What has no value is left out.
package enum RequestBody: Sendable, Equatable {
    case json(BodyTemplate)
    /// `application/x-www-form-urlencoded`; a name may occur twice.
    case form([TemplateField])
    /// `multipart/form-data`. Only an endpoint has files.
    case parts([PartTemplate])

    package var json: BodyTemplate? { if case .json(let body) = self { body } else { nil } }
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
            + authorization.placeholders + (body?.placeholders ?? [])
    }

    /// Whether the session's access token is sent.
    package var bearer: Bool {
        get { authorization == .accessToken }
        set { authorization = newValue ? .accessToken : .none }
    }

    /// Whether a request may be repeated after it may have been carried out: because of its method (RFC 9110 §9.2.2), or
    /// because its `Idempotency-Key` identifies it.
    package static func mayRepeat(method: String, headers: [String]) -> Bool {
        ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
            || headers.contains { $0.lowercased() == "idempotency-key" }
    }
}

extension RequestAuthorization {
    package var placeholders: [String] {
        if case .basic(let user, let password) = self { user.placeholders + password.placeholders } else { [] }
    }
}

extension RequestBody {
    package var placeholders: [String] {
        switch self {
        case .json(let body): body.placeholders
        case .form(let fields): fields.flatMap(\.value.placeholders)
        case .parts(let parts): parts.flatMap(\.placeholders)
        }
    }
}

extension PartTemplate {
    /// Without the argument of a file.
    package var placeholders: [String] {
        let text: [String] = if case .text(let template) = content { template.placeholders } else { [] }
        return text + (fileName?.placeholders ?? [])
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
