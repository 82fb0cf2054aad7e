import AuthModel

/// How the end of a response is marked (RFC 9112 §6).
package struct FrontFraming: Sendable, Equatable {
    /// To be added to the response.
    package let isChunked: Bool
    package let hasBody: Bool
    /// The end of the connection is the end of the body.
    package let endsWithConnection: Bool

    /// - Parameter hasLength: whether the response has a Content-Length.
    package init(_ request: FrontHead, status: Int, hasLength: Bool) {
        hasBody = request.method != "HEAD" && status >= 200 && status != 204 && status != 304
        isChunked = hasBody && !hasLength && !request.isOld
        endsWithConnection = hasBody && !hasLength && request.isOld
    }
}
