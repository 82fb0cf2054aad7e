import AuthWire

/// A `multipart/form-data` body (RFC 7578), in the order of its parts.
package struct MultipartBody: Sendable {
    struct Part {
        var name: String
        var fileName: String?
        var type: String?
        var content: Content
    }

    enum Content {
        case bytes([UInt8])
        /// Streamed; one part of a body at most.
        case streamed
    }

    var parts: [Part]
    /// Bchars, at most 70 (RFC 2046 §5.1.1), and so random that no content contains it.
    let boundary: String

    /// Those of a request. What has no value is left out.
    /// - Parameter file: the content of an argument that is a file.
    static func parts(
        _ templates: [PartTemplate], _ values: TemplateValues,
        file: (_ argument: String) throws(AgentError) -> Content? = { _ in nil }
    ) throws(AgentError) -> [Part] {
        var parts: [Part] = []
        for template in templates {
            let content: Content? =
                switch template.content {
                case .text(let text): text.fill(values).map { .bytes(Array($0.utf8)) }
                case .file(let argument): try file(argument)
                }
            guard let content else { continue }
            parts.append(
                Part(
                    name: template.name, fileName: template.fileName?.fill(values), type: template.type,
                    content: content))
        }
        return parts
    }

    /// From the system's random bytes, so that the author of a part cannot guess it.
    package static func newBoundary() -> String { "authd-" + Base64URL.random() }

    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// - Throws: if a name or type would break the format.
    /// - Returns: the bytes before and after the streamed part; `after` is `nil` if nothing is streamed.
    func bytes() throws(AgentError) -> (before: [UInt8], after: [UInt8]?) {
        var bytes: [UInt8] = []
        var before: [UInt8]?
        for part in parts {
            bytes += try Array(head(part).utf8)
            switch part.content {
            case .bytes(let content): bytes += content
            case .streamed: (before, bytes) = (bytes, [])
            }
            bytes += Array("\r\n".utf8)
        }
        bytes += Array("--\(boundary)--\r\n".utf8)
        return before.map { ($0, bytes) } ?? (bytes, nil)
    }

    private func head(_ part: Part) throws(AgentError) -> String {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(try quoted(part.name))\""
        if let name = part.fileName { head += "; filename=\"\(try quoted(name))\"" }
        head += "\r\n"
        if let type = part.type ?? (part.fileName == nil ? nil : "application/octet-stream") {
            guard HeaderRules.isValue(type) else { throw HeaderRules.badValue("the part's type") }
            head += "Content-Type: \(type)\r\n"
        }
        return head + "\r\n"
    }

    /// As browsers do (RFC 7578 §4.2, HTML's "multipart/form-data encoding algorithm"): three characters are escaped.
    private func quoted(_ text: String) throws(AgentError) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "%22"
            case "\r": "%0D"
            case "\n": "%0A"
            default: String(scalar)
            }
        }.joined()
        guard HeaderRules.isValue(escaped) else { throw HeaderRules.badValue("the name of a part") }
        return escaped
    }
}
