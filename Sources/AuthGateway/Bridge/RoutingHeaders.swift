import AuthModel
package import AuthWire

/// The headers that repeat parts of a request of the stateless protocol (2026-07-28, Streamable HTTP, "Request Metadata").
package enum RoutingHeaders {
    /// - Parameter parameters: those of the called tool that it wants as headers.
    /// - Throws: if a value cannot be a header.
    package static func headers(
        of message: BridgeMessage, version: String, parameters: [ToolParameter] = []
    ) throws(BridgeProblem) -> [(name: String, value: String)] {
        guard let method = message.method, isPlain(version), isPlain(method) else {
            throw .invalidMessage("Its method or protocol version cannot be sent in a header.")
        }
        var headers = [("MCP-Protocol-Version", version), ("Mcp-Method", method)]
        let params = message.json["params"]
        let source: JSON? =
            switch method {
            case "tools/call", "prompts/get": params?["name"]
            case "resources/read": params?["uri"]
            default: nil
            }
        if let name = source?.stringValue { headers.append(("Mcp-Name", encoded(name))) }
        for parameter in parameters {
            guard let value = parameter.value(in: params?["arguments"]) else { continue }
            headers.append(("Mcp-Param-\(parameter.header)", encoded(value)))
        }
        guard headers.allSatisfy({ $0.1.utf8.count <= BridgeLimits.headerBytes }) else {
            throw .invalidMessage(
                "A value that must be sent in a header is longer than \(BridgeLimits.headerBytes) bytes.")
        }
        return headers
    }

    /// A value as it is, or in Base64 if it cannot be sent so ("Value Encoding").
    package static func encoded(_ value: String) -> String {
        let looksEncoded = value.hasPrefix(prefix) && value.hasSuffix(suffix)
        guard looksEncoded || !isPlain(value) else { return value }
        return prefix + Base64.encode(Array(value.utf8)) + suffix
    }

    private static let prefix = "=?base64?"
    private static let suffix = "?="

    /// Visible characters, and spaces or tabs between them (RFC 9110 §5.5).
    static func isPlain(_ value: String) -> Bool {
        guard let first = value.utf8.first, let last = value.utf8.last, first.isVisible, last.isVisible else {
            return false
        }
        return value.utf8.allSatisfy { $0.isVisible || $0 == 0x20 || $0 == 0x09 }
    }
}

/// A parameter of a tool that the server wants to be repeated in a header (`x-mcp-header`).
package struct ToolParameter: Sendable, Equatable {
    enum Kind: String {
        case string, integer, boolean
    }

    /// What follows `Mcp-Param-`.
    package let header: String
    /// The properties that lead to it.
    let path: [String]
    let kind: Kind

    /// `nil` if the call does not set it.
    func value(in arguments: JSON?) -> String? {
        let found = path.reduce(arguments) { $0?[$1] }
        return switch (kind, found) {
        case (.string, .string(let text)?): text
        case (.boolean, .bool(let flag)?): flag ? "true" : "false"
        case (.integer, let number?): number.integerValue.map(String.init)
        default: nil
        }
    }

    /// The tools of a result of `tools/list`.
    package struct List {
        /// By the name of the tool; those without such parameters are left out.
        package var parameters: [String: [ToolParameter]] = [:]
        /// The names of all.
        package var names: [String] = []
        /// Tools that a client must not use, and why.
        package var invalid: [(name: String, reason: String)] = []

        package init(_ tools: [JSON]) {
            for tool in tools {
                guard let name = tool["name"]?.stringValue else { continue }
                names.append(name)
                var search = Search()
                if let schema = tool["inputSchema"] { search.examine(schema, path: [], isReachable: true) }
                if let mistake = search.mistake {
                    invalid.append((name, mistake))
                } else if !search.found.isEmpty {
                    parameters[name] = search.found
                }
            }
        }
    }

    private struct Search {
        var found: [ToolParameter] = []
        var mistake: String?

        /// - Parameter isReachable: whether only `properties` lead here from the root.
        mutating func examine(_ schema: JSON, path: [String], isReachable: Bool) {
            guard mistake == nil else { return }
            if let elements = schema.arrayValue {
                for element in elements { examine(element, path: path, isReachable: false) }
            }
            guard let object = schema.objectValue else { return }
            if let name = object[ToolParameter.annotation] {
                add(name, object, path, isReachable: isReachable && !path.isEmpty)
            }
            for (key, value) in object where key != ToolParameter.annotation {
                if key == "properties", let properties = value.objectValue {
                    for (name, property) in properties {
                        examine(property, path: path + [name], isReachable: isReachable)
                    }
                } else if !ToolParameter.values.contains(key) {
                    examine(value, path: path, isReachable: false)
                }
            }
        }

        private mutating func add(_ name: JSON, _ schema: JSONObject, _ path: [String], isReachable: Bool) {
            guard let name = name.stringValue, !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
                mistake = "x-mcp-header is not the name of a header"
                return
            }
            guard isReachable else {
                mistake = "x-mcp-header '\(name)' is at a place that no chain of properties leads to"
                return
            }
            guard let kind = (schema["type"]?.stringValue).flatMap(Kind.init) else {
                mistake = "x-mcp-header '\(name)' is for a parameter that is not a string, an integer or a boolean"
                return
            }
            guard !found.contains(where: { $0.header.lowercased() == name.lowercased() }) else {
                mistake = "x-mcp-header '\(name)' occurs twice"
                return
            }
            found.append(ToolParameter(header: name, path: path, kind: kind))
        }
    }

    private static let annotation = "x-mcp-header"
    /// Keywords whose values are not schemas.
    private static let values: Set = ["default", "const", "enum", "examples", "required"]
}
