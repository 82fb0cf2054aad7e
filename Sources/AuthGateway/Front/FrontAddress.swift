package import AuthWire

/// Where a front listens.
package enum FrontAddress: Sendable, Equatable, CustomStringConvertible {
    /// A Unix socket, at an absolute path.
    case unix(path: String)
    /// `127.0.0.1` or `::1`. The system chooses a port for 0.
    case loopback(host: String, port: Int)

    /// `unix:PATH`, `127.0.0.1:PORT`, `localhost:PORT` or `[::1]:PORT`.
    /// - Throws: `validation` for anything else: other addresses can be reached from other machines.
    package init(_ text: String) throws(AgentError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/"), !path.hasSuffix("/") else { throw Self.refused(text) }
            self = .unix(path: path)
            return
        }
        let hosts = ["127.0.0.1:": "127.0.0.1", "localhost:": "127.0.0.1", "[::1]:": "::1"]
        guard let (prefix, host) = hosts.first(where: { text.hasPrefix($0.key) }) else { throw Self.refused(text) }
        let digits = text.dropFirst(prefix.count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            port <= 65535
        else { throw Self.refused(text) }
        self = .loopback(host: host, port: port)
    }

    package var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .loopback(let host, let port): host == "::1" ? "[::1]:\(port)" : "\(host):\(port)"
        }
    }

    /// What a client on this machine may write in `Host` for a port: any other name was made to lead here (DNS
    /// rebinding). `nil` for a Unix socket, where it says nothing.
    package var authorities: Set<String>? {
        guard case .loopback(let host, let port) = self else { return nil }
        let hosts =
            switch host {
            case "127.0.0.1": [host, "localhost"]
            case "::1": ["[::1]", "localhost"]
            default: [host]
            }
        return Set(hosts.map { "\($0):\(port)" } + (port == 80 ? hosts : []))
    }

    private static func refused(_ text: String) -> AgentError {
        AgentError(
            .validation,
            "'\(VisibleText.line(text))' cannot be listened on: expected unix:PATH with an absolute path, 127.0.0.1:PORT "
                + "or [::1]:PORT.")
    }
}
