import AuthModel

/// The head of a request as it was received.
package struct FrontHead: Sendable {
    package let method: String
    package let target: String
    /// HTTP/1.0 or HTTP/1.1.
    package let isOld: Bool
    package let fields: [(name: String, value: String)]

    package init(method: String, target: String, isOld: Bool = false, fields: [(name: String, value: String)]) {
        self.method = method
        self.target = target
        self.isOld = isOld
        self.fields = fields
    }

    package func values(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name }.map { $0.value }
    }

    /// Whether a comma-separated field names a token.
    package func has(_ token: String, in name: String) -> Bool {
        values(name).contains { value in
            value.unicodeScalars.split(separator: ",").contains { String($0).lowercased().withoutSpaceAround == token }
        }
    }

    /// Bytes of the body; `nil` if that is not known before its end.
    package var bodyLength: Int? {
        values("transfer-encoding").isEmpty ? values("content-length").first.flatMap(Int.init) ?? 0 : nil
    }

    /// A client that waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    package var expectsContinue: Bool { !isOld && has("100-continue", in: "expect") }

    /// The opening handshake of RFC 6455 §4.1.
    package var opensWebSocket: Bool {
        method == "GET" && !isOld && has("upgrade", in: "connection") && has("websocket", in: "upgrade")
    }

    /// A request whose end two programs could see in different places (RFC 9112 §6.3, §11.2), or without a host (§3.2).
    var malformation: String? {
        let codings = values("transfer-encoding")
        let lengths = values("content-length")
        if !codings.isEmpty, !lengths.isEmpty { return "it has Transfer-Encoding and Content-Length" }
        if !codings.isEmpty, isOld || codings.count > 1 || codings[0].lowercased() != "chunked" {
            return "its Transfer-Encoding is not 'chunked'"
        }
        if lengths.count > 1 || lengths.contains(where: { !Self.isLength($0) }) {
            return "its Content-Length is not one number"
        }
        let hosts = values("host")
        if hosts.count > 1 || (hosts.isEmpty && !isOld) { return "it does not have one Host" }
        if fields.contains(where: { !HeaderRules.isName($0.name) }) { return "a header name has other characters" }
        return nil
    }

    private static func isLength(_ text: String) -> Bool {
        (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
