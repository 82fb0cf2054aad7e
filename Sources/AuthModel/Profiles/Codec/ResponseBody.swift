package import AuthWire

/// A response body, by its content.
package enum ResponseBody: Sendable {
    case empty
    case json(JSON)
    /// Plain text.
    case text(String)
    /// An HTML page, from a portal, a proxy or a server's error handler.
    case page
    case undecodable(reason: String)

    /// The largest response that the transport accepts.
    private static let longest = 8 << 20

    package init(_ reply: HTTPResponse) {
        let bytes = reply.body.starts(with: [0xEF, 0xBB, 0xBF]) ? reply.body.dropFirst(3) : reply.body[...]
        let type = MediaType(reply)
        guard bytes.count <= Self.longest else {
            self = .undecodable(reason: "it is larger than \(Self.longest >> 20) MiB")
            return
        }
        guard let first = bytes.first(where: { !Self.isBlank($0) }) else {
            self = .empty
            return
        }
        if type.isPage || (first == UInt8(ascii: "<") && !type.isJSON) {
            self = Self.mislabelled(bytes, first, reply) ?? .page
            return
        }
        do {
            self = .json(try JSON(parsing: Array(bytes), values: Limits.jsonValues))
        } catch {
            self = Self.words(bytes, type: type, first: first, error)
        }
    }

    /// A body that is wrongly labelled as a page: an error in JSON, or a response with a token challenge, which only the API
    /// itself can send.
    private static func mislabelled(_ bytes: ArraySlice<UInt8>, _ first: UInt8, _ reply: HTTPResponse) -> ResponseBody?
    {
        if first == UInt8(ascii: "{"), let json = try? JSON(parsing: Array(bytes), values: Limits.jsonValues),
            json["error"]?.stringValue != nil
        {
            return .json(json)
        }
        return TokenChallenge(reply) == nil ? nil : .empty
    }

    /// As a JSON value; `nil` if there is none.
    package var json: JSON? {
        switch self {
        case .json(let json): json
        case .text(let text): .string(text)
        case .empty, .page, .undecodable: nil
        }
    }

    /// Plain text is accepted unless the media type or its first character says JSON.
    private static func words(
        _ bytes: ArraySlice<UInt8>, type: MediaType, first: UInt8, _ error: JSONError
    ) -> ResponseBody {
        let isMeantAsJSON = type.isJSON || "{[\"".utf8.contains(first)
        guard !isMeantAsJSON, let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            return .undecodable(reason: "byte \(error.offset): \(error.reason)")
        }
        return .text(text)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
