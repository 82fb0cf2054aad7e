/// The part of `Content-Type` that matters here (RFC 9110 §8.3.1).
package struct MediaType {
    /// In lower case, without parameters; empty if the response has none.
    package let text: String

    package init(_ reply: HTTPResponse) {
        text = (reply.header("Content-Type") ?? "").prefix { $0 != ";" }.lowercased()
            .filter { $0 != " " && $0 != "\t" }
    }

    package var isJSON: Bool { text == "application/json" || text.hasSuffix("+json") }

    var isPage: Bool { text == "text/html" || text == "application/xhtml+xml" }

    /// Without a media type anything is possible; a binary type is passed on as bytes.
    var mayBeText: Bool { text.isEmpty || text.hasPrefix("text/") || isJSON || isPage }
}
