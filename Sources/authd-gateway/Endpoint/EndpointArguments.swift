import AuthFront
import AuthGateway
import AuthWire

/// `authd-gateway http`
struct EndpointArguments: Sendable {
    var socket: String?
    /// `authc` names at least one.
    var listen: [FrontAddress] = []
    /// Whether it listens on the Unix socket `$XDG_RUNTIME_DIR/authd-http/socket`, too.
    var hasUnixSocket = false
    /// What the service manager passed.
    var sockets: [FrontSocket] = []

    init(_ words: ArraySlice<String>) throws(AgentError) {
        var rest = words
        while let option = rest.popFirst() {
            if option == "--unix" {
                hasUnixSocket = true
                continue
            }
            guard let value = rest.popFirst() else { throw .invalidParams("\(option) has no value") }
            switch option {
            case "--socket": socket = value
            case "--listen": listen.append(try FrontAddress(value))
            default: throw .invalidParams("there is no option \(option)")
            }
        }
    }
}

/// `authd-gateway aws`
struct AWSArguments: Sendable {
    let identity: WebIdentity
    var socket: String?

    init(_ words: ArraySlice<String>) throws(AgentError) {
        var rest = words
        var values: [String: String] = [:]
        var scopes: [String] = []
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw .invalidParams("\(option) has no value") }
            switch option {
            case "--scope": scopes.append(value)
            case "--socket", "--session", "--role", "--sts", "--audience": values[option] = value
            default: throw .invalidParams("there is no option \(option)")
            }
        }
        guard let role = values["--role"] else { throw .invalidParams("--role is missing") }
        let session = try values["--session"].map { text throws(AgentError) in try SessionName(text) }
        socket = values["--socket"]
        identity = try WebIdentity(
            session: session, scopes: scopes.isEmpty ? nil : scopes, audience: values["--audience"], role: role,
            service: values["--sts"] ?? EndpointClient.usualSTS, name: session?.text ?? "default")
    }
}
