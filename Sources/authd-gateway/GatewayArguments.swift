import AuthGateway
import AuthModel
import AuthWire

/// What `authc` starts this program with. Users do not call it, so it has neither help nor abbreviations.
struct GatewayArguments: Sendable {
    /// What the program is for.
    enum Purpose: Sendable {
        /// `authd-gateway mcp URL`
        case bridge(BridgeArguments)
    }

    let purpose: Purpose

    init(_ words: [String]) throws(GatewayMistake) {
        var rest = words.dropFirst()
        guard rest.popFirst() == "mcp", let url = rest.popFirst() else { throw .usage("run it as `authc mcp URL`") }
        do throws(AgentError) {
            var bridge = BridgeArguments(url: try ResourceURL(url))
            while let option = rest.popFirst() {
                guard let value = rest.popFirst() else { throw .invalidParams("\(option) has no value") }
                switch option {
                case "--session": bridge.session = try SessionName(value)
                case "--socket": bridge.socket = value
                case "--timeout-ms":
                    guard let limit = Int64(value), limit > 0 else { throw .invalidParams("\(option): not a number") }
                    bridge.responseTime = .milliseconds(limit)
                default: throw .invalidParams("there is no option \(option)")
                }
            }
            purpose = .bridge(bridge)
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
}

/// Why the program cannot start.
struct GatewayMistake: Error {
    let text: String
    /// As in sysexits.h.
    let status: Int32

    static func usage(_ text: String) -> GatewayMistake { GatewayMistake(text: text, status: 64) }
    static func settings(_ text: String) -> GatewayMistake { GatewayMistake(text: text, status: 78) }
}
