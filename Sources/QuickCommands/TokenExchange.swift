import CStart

/// `token`: asks the agent for the token that it has in memory.
enum TokenExchange {
    /// The agent answers from memory at once. A renewal takes longer: the full program waits for it.
    private static let milliseconds: Int32 = 250
    /// Longer than any answer: an access token has at most 32 KiB.
    private static let longestAnswer = 64 << 10

    /// Whether the token was printed.
    static func printToken(of session: Text?, for origin: Text?, in folder: AgentFolder) -> Bool {
        guard let request = request(of: session, for: origin, in: folder), let socket = AgentSocket(folder.socket),
            socket.send(request)
        else { return false }
        return unsafe withUnsafeTemporaryAllocation(byteCount: longestAnswer, alignment: 1) { room in
            guard let lines = unsafe socket.receive(TokenReplyLines.lines, into: room, within: milliseconds) else {
                return false
            }
            return TokenReplyLines.token(in: lines).map(Printer.print) ?? false
        }
    }

    /// A ping goes first: its answer comes while the agent can still identify this program.
    private static func request(of session: Text?, for origin: Text?, in folder: AgentFolder) -> [UInt8]? {
        var lines = ByteString()
        lines.append(#"{"jsonrpc":"2.0","id":1,"method":"agent.ping","params":{}}"#)
        lines.append("\n")
        lines.append(#"{"jsonrpc":"2.0","id":2,"method":"token.get","params":{"#)
        if let session = session ?? Text(environment: "AUTHD_SESSION") {
            guard session.isSessionName else { return nil }
            lines.append(#""session":""#)
            lines.append(session)
            lines.append("\"")
            if origin != nil { lines.append(",") }
        } else {
            // The settings may name a session for the current folder.
            let rules = folder.file("folders")
            guard unsafe rules.withCString({ unsafe access($0, F_OK) }) != 0 else { return nil }
        }
        if let origin {
            guard origin.isPlain else { return nil }
            lines.append(#""origin":""#)
            lines.append(origin)
            lines.append("\"")
        }
        lines.append("}}\n")
        return lines.bytes
    }
}

extension Text {
    private static let longestName = 64

    /// `SessionName` of AuthWire.
    fileprivate var isSessionName: Bool {
        guard count <= Self.longestName, let first = unsafe bytes.first, Self.isLetterOrDigit(first) else {
            return false
        }
        return unsafe bytes.allSatisfy { byte in
            Self.isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
    }

    /// Not an option, and a JSON string without escapes (RFC 8259 §7).
    fileprivate var isPlain: Bool {
        let needsEscape = unsafe bytes.contains { $0 == .quote || $0 == UInt8(ascii: "\\") }
        return isPrintable && !needsEscape && !starts(with: "-")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z"))
            || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
    }
}
