import AuthWire

/// An agent whose answers complete arguments, and the command lines with which a shell asks for them.
enum CompletionSamples {
    static let sessions = "shop\na.b-c_9\n"
    static let scopes = "read\nhttps://api.example/a.b\n"
    static let providers = "app-template\nof work\n"
    static let entries = "12\n9c\n"

    private static let replies: [String: JSON] = [
        "session.list": [
            "sessions": [
                Samples.status(["scopes": ["read", "write"]]),
                Samples.status(["session": "a.b-c_9", "provider": "envelope", "default": false, "state": "signed_out"]),
            ]
        ],
        "session.status": Samples.status(["scopes": ["read", "https://api.example/a.b"]]),
        "provider.list": ["providers": [provider(), provider(["name": "of work"])]],
        "outbox.list": [
            "entries": [
                entry(["retry_at": 1.5, "waits_for": "unmetered_network", "error": "of another form"]),
                entry(["id": "9c", "state": "given_up", "tries": 3, "error": ["code": -32000, "message": "no\nmore"]]),
            ]
        ],
    ]

    static func agent(_ changes: [String: JSON] = [:]) throws -> TestAgent {
        try TestAgent(replies: replies.merging(changes) { $1 }.mapValues { .success($0) })
    }

    /// - Parameter changes: `null` removes a member.
    static func provider(_ changes: [String: JSON] = [:]) -> JSON {
        let usual: JSONObject = [
            "name": "app-template", "title": "Its title", "environments": ["local"], "methods": ["password"],
            "source": "bundled",
        ]
        return changed(usual, changes)
    }

    /// - Parameter changes: `null` removes a member.
    static func entry(_ changes: [String: JSON] = [:]) -> JSON {
        let usual: JSONObject = [
            "id": "12", "session": "shop", "state": "waiting", "request": "create-item", "idempotency_key": "k1",
            "queued_at": 1_700_000_000.5, "tries": 0,
        ]
        return changed(usual, changes)
    }

    private static func changed(_ object: JSONObject, _ changes: [String: JSON]) -> JSON {
        var object = object
        for (key, value) in changes { object[key] = value.isNull ? nil : value }
        return .object(object)
    }

    /// - Parameters:
    ///   - argument: as the scripts have it: `use -- positional@0`.
    ///   - line: what the user has typed after `authc`.
    static func request(_ argument: String, _ line: [String] = [""]) -> [String] {
        ["---completion"] + argument.split(separator: " ").map(String.init) + ["\(line.count)", "0", "authc"] + line
    }
}
