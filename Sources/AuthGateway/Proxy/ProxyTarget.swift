package import AuthModel
package import AuthWire

/// The server behind a proxy: one origin, and the path of the API there.
package struct ProxyTarget: Sendable, Equatable {
    package let origin: Origin
    /// The path of the URL that the proxy's own URL stands for; empty, or with a slash at its beginning only.
    package let basePath: String

    /// - Throws: `validation` for anything but an `https` URL, or an `http` URL of this machine.
    package init(_ url: String) throws(AgentError) {
        let resource = try ResourceURL(url)
        guard resource.query.isEmpty else { throw AgentError(.validation, "The URL of a proxy's server has no query.") }
        origin = resource.origin
        let path = Origin.path(of: resource.text)
        basePath = String(path.hasSuffix("/") ? path.dropLast() : path)
    }

    /// Where a request goes. Its path is the server's own: nothing can lead to another origin. Characters that no URI
    /// has, such as `|`, are percent-encoded, because Foundation's `URL` would do it in its own way.
    package func url(for target: String) -> String { origin.text + (target == "*" ? "/" : Self.encoded(target)) }

    /// `Location` and `Content-Location` as the client can use them: an address of this origin becomes one of the
    /// proxy; anything else stays, and is not followed.
    package func location(_ text: String, prefix: String) -> String {
        if text.hasPrefix("/"), !text.hasPrefix("//") { return prefix + text }
        guard Origin(of: text) == origin else { return text }
        let path = Origin.path(of: text)
        return prefix + (path.hasPrefix("/") ? path : "/" + path)
    }

    /// Those of a path and a query, besides escapes (RFC 3986 §3.3, §3.4).
    private static let ofURI = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8)
    private static let hexDigits = Array("0123456789ABCDEFabcdef".utf8)

    private static func encoded(_ target: String) -> String {
        let bytes = Array(target.utf8)
        var encoded: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let next = bytes[(index + 1)...].prefix(2)
            let isEscape = byte == UInt8(ascii: "%") && next.count == 2 && next.allSatisfy(hexDigits.contains)
            if isEscape || ofURI.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
