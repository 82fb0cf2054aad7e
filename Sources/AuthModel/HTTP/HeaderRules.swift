import AuthWire

/// Which header fields a caller may set.
package enum HeaderRules {
    /// Set by the agent (the token and its proof) or by the connection (RFC 9110 §7.6.1, §7.2, §8.6).
    private static let reservedHeaders: Set<String> = [
        "authorization", "connection", "content-length", "dpop", "expect", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// Servers accept 8 KiB of them or a little more.
    private static let maxHeaders = 64

    static func check(_ headers: [String: String]) throws(AgentError) {
        guard headers.count <= maxHeaders else {
            throw AgentError(
                .validation, "A request may have at most \(maxHeaders) headers. Nothing was sent.", cause: "headers")
        }
        for (name, value) in headers {
            guard isName(name) else {
                throw AgentError(
                    .validation, "A header name has only letters, digits and some punctuation (RFC 9110 §5.6.2).",
                    cause: "headers")
            }
            guard !reservedHeaders.contains(name.lowercased()) else {
                throw AgentError(
                    .validation, "Only the agent may set the header \(name). Nothing was sent.", cause: "headers")
            }
            guard isValue(value) else { throw badValue("the header \(name)") }
        }
    }

    /// Applies to cookies, too (RFC 6265 §4.1.1).
    package static func isName(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isTokenCharacter) }

    /// RFC 9110 §5.5: no control characters except tab.
    package static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == UInt8(ascii: "\t") }
    }

    static func badValue(_ what: String) -> AgentError {
        AgentError(
            .validation, "The value of \(what) contains a line break or control character. Nothing was sent.",
            cause: "headers")
    }
}
