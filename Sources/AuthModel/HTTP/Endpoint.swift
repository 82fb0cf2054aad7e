package import AuthWire

/// A call of the provider's API that a profile names.
package struct Endpoint: Sendable, Equatable {
    package var name: String
    package var about: String?
    package var request: RequestTemplate
    /// In the order of the profile.
    package var arguments: [EndpointArgument]
    /// How long a response is fresh; zero: not cached; `nil`: as the profile says, then the response itself.
    package var cache: Duration?
    package var pages: PageRule?
    /// Its response is what a GET of the same path would return now, and replaces that copy in the cache.
    package var answersAsRead = false
    /// Endpoints whose cached responses it makes outdated.
    package var clears: [String] = []

    package init(name: String, request: RequestTemplate, arguments: [EndpointArgument] = []) {
        self.name = name
        self.request = request
        self.arguments = arguments
    }

    /// The values of arguments that are not given.
    var fallbacks: [Template] { arguments.compactMap(\.fallback) }

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

/// An argument of an endpoint, by the name of its placeholder in the request.
package struct EndpointArgument: Sendable, Equatable {
    package var name: String
    package var type: ArgumentType
    package var optional: Bool
    package var secret = false
    package var about: String?
    /// Used if no value is given; its placeholders are the session's.
    package var fallback: Template?
    /// Whitespace around the text is removed.
    package var trims = false

    package init(name: String, type: ArgumentType = .text, optional: Bool = false, fallback: Template? = nil) {
        self.name = name
        self.type = type
        self.optional = optional
        self.fallback = fallback
    }
}

/// One part of a multipart body (RFC 7578).
package struct PartTemplate: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case text(Template)
        /// The argument with the bytes.
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

/// How an endpoint's response continues on further pages.
package struct PageRule: Sendable, Equatable {
    package enum Next: Sendable, Equatable {
        /// A boolean in the response says that there is more: the argument grows by one, from `first` if it was not given.
        case counted(argument: String, first: Int64, more: JSONPointer)
        /// The response contains the next value of the argument, until there is none.
        case cursor(argument: String, at: JSONPointer)
        /// The response contains the address of the next page, at the first of these places that has one; without places, in
        /// its `Link` field.
        case address(at: [JSONPointer])
    }

    /// The list in the response.
    package var items: JSONPointer
    package var next: Next

    package init(items: JSONPointer, next: Next) {
        self.items = items
        self.next = next
    }

    /// Where this response's items are, and the arguments of the next page.
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
        case .address: return nil
        }
    }
}
