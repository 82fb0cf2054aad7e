package import AuthWire

/// Where a response contains a value: a token, a lifetime, or a value for the next request.
package enum ValuePlace: Sendable, Hashable {
    /// In the body (RFC 6901).
    case pointer(JSONPointer)
    /// The first header field of that name, in any case.
    case header(String)
    /// A cookie that the response sets (RFC 6265); its quotation marks are not part of the value.
    case cookie(String)

    /// - Returns: `nil` if there is none. A header and a cookie are strings.
    package func find(in reply: HTTPResponse, _ body: ResponseBody) -> JSON? {
        switch self {
        case .pointer(let pointer): body.json.flatMap(pointer.find)
        case .header(let name): reply.header(name).map(JSON.string)
        case .cookie(let name): SetCookie.last(named: name, in: reply).map { .string($0.content) }
        }
    }

    var isHeader: Bool { if case .header = self { true } else { false } }

    /// For messages.
    package var text: String {
        switch self {
        case .pointer(let pointer): "'\(pointer.text)'"
        case .header(let name): "the header \(name)"
        case .cookie(let name): "the cookie \(name)"
        }
    }
}
