import AuthWire
import TestSupport

/// `authc mcp URL`, with its pipes held by the test.
struct HeldBridge: Sendable {
    static let initialize =
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#
        + #""clientInfo":{"name":"test","version":"1"}}}"#
    static let initialized = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#

    let child: Child

    init(
        _ url: String, _ options: [String] = [], on desktop: Desktop, _ input: Child.Input = .held,
        with more: [String: String] = [:]
    ) async throws {
        child = try await Child(
            [Programs.authc, "mcp", url] + options, environment: desktop.environment.merging(more) { $1 },
            input: input)
    }

    /// - Returns: the message that answers the request.
    func ask(_ line: String) async throws -> JSON {
        child.tell(line)
        return try await answer(to: line)
    }

    func answer(to line: String) async throws -> JSON {
        let id = try JSON(parsing: line)["id"]
        var seen = 0
        while true {
            guard await child.out.wait(for: "\n", times: seen + 1) else {
                throw Failure("no answer to \(line): \(child.out.text) \(child.err.text)")
            }
            let lines = child.out.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let messages = try lines.map { try JSON(parsing: String($0)) }
            if let answer = messages.last(where: { $0["id"] == id && $0["method"] == nil }) { return answer }
            seen = lines.count
        }
    }

    func ask(_ id: Int, _ method: String, params: String = "{}") async throws -> JSON {
        try await ask(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }
}
