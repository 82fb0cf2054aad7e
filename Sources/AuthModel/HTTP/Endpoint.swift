package import AuthWire

/// A call of the provider's API that a profile names.
package struct Endpoint: Sendable, Equatable {
    package var name: String
    /// For people.
    package var about: String?
    package var request: RequestTemplate
    /// In the order in which the profile names them.
    package var arguments: [EndpointArgument]
    /// Of a multipart body, which takes the place of the request's own.
    package var parts: [PartTemplate]
    /// How long an answer counts as fresh; zero: it is not kept; `nil`: as the profile, then the answer itself says.
    package var cache: Duration?
    package var pages: PageRule?
    /// Its answer is what reading the same path would give now, and takes the place of that copy.
    package var answersAsRead: Bool
    /// Endpoints whose kept answers are out of date after it.
    package var clears: [String]

    package init(
        name: String, about: String? = nil, request: RequestTemplate, arguments: [EndpointArgument] = [],
        parts: [PartTemplate] = [], cache: Duration? = nil, pages: PageRule? = nil, answersAsRead: Bool = false,
        clears: [String] = []
    ) {
        self.name = name
        self.about = about
        self.request = request
        self.arguments = arguments
        self.parts = parts
        self.cache = cache
        self.pages = pages
        self.answersAsRead = answersAsRead
        self.clears = clears
    }

    /// Of itself, for a client.
    package var info: EndpointInfo {
        EndpointInfo(
            name: name, about: about, method: request.method, path: request.path.text,
            args: arguments.map {
                ArgumentInfo(
                    name: $0.name, type: $0.type, optional: $0.optional || $0.fallback != nil, secret: $0.secret,
                    about: $0.about)
            }, paged: pages != nil)
    }
}

/// What a caller gives to an endpoint, by the name of its place in the request.
package struct EndpointArgument: Sendable, Equatable {
    package var name: String
    package var type: ArgumentType
    package var optional: Bool
    package var secret: Bool
    package var about: String?
    /// Taken when none is given; its places are the session's.
    package var fallback: Template?
    /// The space around a text is not sent.
    package var trims: Bool

    package init(
        name: String, type: ArgumentType = .text, optional: Bool = false, secret: Bool = false, about: String? = nil,
        fallback: Template? = nil, trims: Bool = false
    ) {
        self.name = name
        self.type = type
        self.trims = trims
        self.optional = optional
        self.secret = secret
        self.about = about
        self.fallback = fallback
    }
}

/// One part of a multipart body (RFC 7578).
package struct PartTemplate: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case text(Template)
        /// The argument that brings the bytes.
        case file(argument: String)
    }

    package var name: String
    package var content: Content
    package var fileName: Template?
    package var type: String?

    package init(name: String, content: Content, fileName: Template? = nil, type: String? = nil) {
        self.name = name
        self.content = content
        self.fileName = fileName
        self.type = type
    }
}

/// How an endpoint's answer goes on over several pages.
package struct PageRule: Sendable, Equatable {
    package enum Next: Sendable, Equatable {
        /// A truth in the answer says that there is more: the argument grows by one, from `first` when it was not given.
        case counted(argument: String, first: Int64, more: JSONPointer)
        /// The answer holds what the argument is to be next, until it holds none.
        case cursor(argument: String, at: JSONPointer)
    }

    /// A list in the answer.
    package var items: JSONPointer
    package var next: Next

    package init(items: JSONPointer, next: Next) {
        self.items = items
        self.next = next
    }

    /// Where this answer's items are, and with which arguments the next page is asked for.
    package func page(of body: JSON?, args: JSONObject) -> PageInfo {
        PageInfo(items: items.text, next: body.flatMap { next(after: $0, args: args) })
    }

    private func next(after body: JSON, args: JSONObject) -> JSONObject? {
        switch next {
        case .counted(let argument, let first, let more):
            guard more.find(in: body)?.boolValue == true else { return nil }
            let given = args[argument]
            let number = given?.integerValue ?? given?.stringValue.flatMap { Int64($0) } ?? first
            let (sum, overflow) = number.addingReportingOverflow(1)
            return overflow ? nil : [argument: .integer(sum)]
        case .cursor(let argument, let pointer):
            guard let value = pointer.find(in: body), !value.isNull, value != "" else { return nil }
            return [argument: value]
        }
    }
}
