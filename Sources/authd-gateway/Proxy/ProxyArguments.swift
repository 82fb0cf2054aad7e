import AuthFront
import AuthGateway
import AuthModel
import AuthWire

/// `authd-gateway proxy`
struct ProxyArguments: Sendable {
    var session: SessionName?
    var socket: String?
    var listen: FrontAddress?
    /// The file with the key; `nil`: a random one.
    var keyFile: String?
    /// The server, if it is not the session's own.
    var server: ProxyTarget?
    var webOrigins: Set<String> = []
    /// Only print the URL.
    var onlyPrints = false
    var responseTime = ProxyLimits.responseTime
    var limits = FrontLimits()
    /// What the service manager passed.
    var sockets: [FrontSocket] = []

    init(_ words: ArraySlice<String>) throws(AgentError) {
        var rest = words
        while let option = rest.popFirst() {
            if option == "--url" {
                onlyPrints = true
                continue
            }
            guard let value = rest.popFirst() else { throw .invalidParams("\(option) has no value") }
            switch option {
            case "--session": session = try SessionName(value)
            case "--socket": socket = value
            case "--listen": listen = try FrontAddress(value)
            case "--key-file": keyFile = value
            case "--to": server = try ProxyTarget(value)
            case "--allow-origin": webOrigins.insert(try Self.origin(value))
            case "--timeout-ms": responseTime = try Self.length(value, option)
            case "--client-timeout-ms": limits.stallTime = try Self.length(value, option)
            default: throw .invalidParams("there is no option \(option)")
            }
        }
    }

    /// As a browser writes it in `Origin`.
    private static func origin(_ text: String) throws(AgentError) -> String {
        guard let origin = Origin(of: text), Origin.path(of: text).isEmpty else {
            throw .invalidParams("--allow-origin: expected an origin such as https://app.example")
        }
        return origin.text
    }

    private static func length(_ text: String, _ option: String) throws(AgentError) -> Duration {
        guard let number = Int64(text), number > 0 else { throw .invalidParams("\(option): not a number") }
        return .milliseconds(number)
    }
}
