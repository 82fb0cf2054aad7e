import AuthFront
import AuthGateway
import AuthModel
import AuthWire

/// What `authc` starts this program with. Users do not call it, so it has neither help nor abbreviations.
struct GatewayArguments: Sendable {
    /// What the program is for.
    enum Purpose: Sendable {
        /// `authd-gateway mcp URL`
        case bridge(BridgeArguments)
        /// `authd-gateway proxy`
        case proxy(ProxyArguments)
        /// `authd-gateway http`
        case endpoint(EndpointArguments)
        /// `authd-gateway aws`
        case aws(AWSArguments)
        /// `authd-gateway trial`
        case trial
    }

    let purpose: Purpose

    /// - Parameter sockets: what the service manager passed.
    init(_ words: [String], sockets: [FrontSocket]) throws(GatewayMistake) {
        var rest = words.dropFirst()
        if rest.elementsEqual(["trial"]) {
            purpose = .trial
            return
        }
        do throws(AgentError) {
            switch rest.popFirst() {
            case "proxy":
                var proxy = try ProxyArguments(rest)
                proxy.sockets = sockets
                purpose = .proxy(proxy)
            case "http":
                var endpoint = try EndpointArguments(rest)
                endpoint.sockets = sockets
                purpose = .endpoint(endpoint)
            case "aws": purpose = .aws(try AWSArguments(rest))
            case "mcp": purpose = .bridge(try BridgeArguments(rest))
            default: throw .invalidParams("run it as `authc mcp URL`")
            }
        } catch {
            throw .usage(error.message)
        }
    }
}

struct BridgeArguments: Sendable {
    let url: ResourceURL
    var session: SessionName?
    var socket: String?
    var responseTime = BridgeLimits.responseTime

    init(_ words: ArraySlice<String>) throws(AgentError) {
        var rest = words
        guard let url = rest.popFirst() else { throw .invalidParams("run it as `authc mcp URL`") }
        self.url = try ResourceURL(url)
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw .invalidParams("\(option) has no value") }
            switch option {
            case "--session": session = try SessionName(value)
            case "--socket": socket = value
            case "--timeout-ms":
                guard let limit = Int64(value), limit > 0 else { throw .invalidParams("\(option): not a number") }
                responseTime = .milliseconds(limit)
            default: throw .invalidParams("there is no option \(option)")
            }
        }
    }
}

/// Why the program cannot start.
struct GatewayMistake: Error {
    let text: String
    /// As in sysexits.h.
    let status: Int32

    static func usage(_ text: String) -> GatewayMistake { GatewayMistake(text: text, status: 64) }
    static func settings(_ text: String) -> GatewayMistake { GatewayMistake(text: text, status: 78) }
}
