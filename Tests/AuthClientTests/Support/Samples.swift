import AuthWire
import Foundation
import Glibc

/// What a usual agent would say.
enum Samples {
    static func token(_ text: String = "t0ken", session: String = "shop") -> JSON {
        [
            "access_token": .string(text), "token_type": "Bearer", "session": .string(session),
            "expires_at": 4_000_000_000,
        ]
    }

    static func status(_ changes: [String: JSON] = [:]) -> JSON {
        var object: JSONObject = [
            "session": "shop", "provider": "app-template", "environment": "production", "state": "active",
            "user": ["id": "7", "email": "ada@example.org", "name": "Ada"], "needs_password": false, "default": true,
        ]
        for (key, value) in changes { object[key] = value.isNull ? nil : value }
        return .object(object)
    }

    static func auditList(_ entries: [JSON]) -> JSON {
        ["entries": .array(entries), "started_at": 1_700_000_000, "dropped": 0, "unlogged": 0]
    }

    /// A request of a program, so many seconds ago.
    static func auditItem(
        _ number: Int, _ method: String, _ exe: String, secondsAgo: Double, _ changes: [String: JSON] = [:]
    ) -> JSON {
        var object: JSONObject = [
            "number": .integer(Int64(number)), "at": .number(Date().timeIntervalSince1970 - secondsAgo),
            "method": .string(method), "rule": "default.token", "count": 1, "session": "work", "pid": 41,
            "exe": .string(exe),
        ]
        for (key, value) in changes { object[key] = value }
        return .object(object)
    }

    static func snapshot(_ sessions: [JSON]) -> JSON {
        RPCReply.notification(
            AgentEvent.method,
            [
                "topic": "agent", "event": "snapshot", "at": 1_700_000_000,
                "snapshot": [
                    "sessions": .array(sessions), "network": ["state": "online", "since": 1_700_000_000],
                    "store": ["kind": "memory", "state": "ready"],
                ],
            ])
    }
}

extension Peer {
    func reply(_ request: RPCRequest, _ result: JSON) {
        send(RPCReply.result(request.id ?? .null, result))
    }

    func fail(_ request: RPCRequest, _ error: AgentError) {
        send(RPCReply.failure(request.id ?? .null, error))
    }
}

/// The open descriptors of this process, except the one that lists them: its number depends on those that were open
/// when the listing began, and another thread may close one of them before it is listed.
func openDescriptors() -> Set<String> {
    guard let folder = opendir("/proc/self/fd") else { return [] }
    defer { closedir(folder) }
    var names: Set<String> = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if let number = Int32(name), number != dirfd(folder) { names.insert(name) }
    }
    return names
}
