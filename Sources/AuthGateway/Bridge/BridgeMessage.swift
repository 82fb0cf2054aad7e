package import AuthWire

/// One message of the Model Context Protocol: its bytes, which are passed on unchanged, and what the transport must know of it.
package struct BridgeMessage: Sendable {
    /// A part that is a message of JSON-RPC 2.0.
    package enum Part: Sendable, Equatable {
        case request(RPCID, method: String)
        case notification(method: String)
        case response(RPCID)

        var isResponse: Bool {
            if case .response = self { true } else { false }
        }
    }

    package enum Mistake: Error, Equatable {
        case notJSON(reason: String)
        /// JSON, but not a message.
        case notMessage
        case tooManyValues
    }

    /// On one line.
    package let bytes: [UInt8]
    /// One, or those of a batch (2025-03-26).
    package let parts: [Part]
    /// Without its content if that is nothing that ``JSON`` can hold.
    package let json: JSON

    package init(_ text: [UInt8]) throws(Mistake) {
        do throws(JSONError) {
            json = try JSON(parsing: text, values: BridgeLimits.messageValues)
        } catch {
            throw error.isTooLarge ? .tooManyValues : .notJSON(reason: "\(error)")
        }
        parts = try Self.parts(json)
        bytes = Self.line(text)
    }

    /// Accepts what is valid but cannot be decoded: half of a surrogate pair, numbers without limit, deep nesting. Only what the
    /// transport needs is read then; the rest is for the program to judge.
    init?(ofServer text: [UInt8]) {
        if let whole = try? BridgeMessage(text) {
            self = whole
            return
        }
        let outline = MessageOutline(text)
        guard outline.isValid, let json = outline.json, let parts = try? Self.parts(json) else { return nil }
        (self.json, self.parts, bytes) = (json, parts, Self.line(text))
    }

    /// In valid JSON a line break is only between values.
    private static func line(_ text: [UInt8]) -> [UInt8] {
        text.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    }

    private static func parts(_ json: JSON) throws(Mistake) -> [Part] {
        guard let elements = json.arrayValue else { return [try part(json)] }
        guard !elements.isEmpty else { throw .notMessage }
        var parts: [Part] = []
        for element in elements { parts.append(try part(element)) }
        return parts
    }

    private static func part(_ json: JSON) throws(Mistake) -> Part {
        guard json["jsonrpc"]?.stringValue == "2.0" else { throw .notMessage }
        let id = json["id"].flatMap(RPCID.init)
        if let method = json["method"] {
            guard let method = method.stringValue else { throw .notMessage }
            if json["id"] == nil { return .notification(method: method) }
            guard let id, id != .null else { throw .notMessage }
            return .request(id, method: method)
        }
        guard json["result"] != nil || json["error"]?.objectValue != nil else { throw .notMessage }
        // An error may have no id, if the request could not be read.
        return .response(id ?? .null)
    }

    /// The ids of its requests.
    package var requests: [RPCID] {
        parts.compactMap { part in
            if case .request(let id, _) = part { id } else { nil }
        }
    }

    /// The ids of its responses.
    var responses: [RPCID] {
        parts.compactMap { part in
            if case .response(let id) = part { id } else { nil }
        }
    }

    /// The method, unless it is a response or a batch.
    package var method: String? {
        guard parts.count == 1 else { return nil }
        switch parts[0] {
        case .request(_, let method), .notification(let method): return method
        case .response: return nil
        }
    }

    /// Whether it has nothing but responses.
    var isResponse: Bool { parts.allSatisfy(\.isResponse) }

    var isInitialize: Bool { method == "initialize" && !requests.isEmpty }
    var isInitialized: Bool { method == "notifications/initialized" }

    /// The version that a request of the stateless protocol names (2026-07-28 and later); `nil` for an older protocol.
    package var statelessVersion: String? { json["params"]?["_meta"]?[Self.versionKey]?.stringValue }

    private static let versionKey = "io.modelcontextprotocol/protocolVersion"

    /// The request that this notification cancels.
    var cancelled: RPCID? {
        guard method == "notifications/cancelled", requests.isEmpty else { return nil }
        return json["params"]?["requestId"].flatMap(RPCID.init)
    }
}
