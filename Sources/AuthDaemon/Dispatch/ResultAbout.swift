/// The members of each result, by the name that ``MethodAbout/result`` has for it. Those that are needed are always there.
enum ResultAbout {
    static let members: [String: [MethodAbout.Param]] = [
        "nothing": [],
        "message": [.takes("message")],
        "info": [
            .needs("version"), .needs("protocol", .integer), .needs("pid", .integer), .needs("started_at", .number),
            .needs("store", .object), .takes("features", .array),
        ],
        "pong": [.needs("pid", .integer)],
        "stats": [
            .needs("requests", .integer), .needs("connections", .integer), .needs("sessions", .integer),
            .needs("renewals", .integer), .needs("uptime_ms", .integer), .takes("counters", .object),
        ],
        "store": [.needs("kind"), .needs("state"), .takes("message"), .takes("process", .object)],
        "openrpc": [.needs("openrpc"), .needs("info", .object), .needs("methods", .array)],
        "providers": [.takes("providers", .array)],
        "provider": [
            .needs("name"), .needs("title"), .takes("environments", .array), .takes("methods", .array),
            .takes("password", .array), .needs("renewal"), .takes("endpoints", .array), .needs("source"),
        ],
        "problems": [.takes("problems", .array)],
        "forgotten": [.needs("forgotten", .boolean), .needs("deleted", .boolean), .takes("message")],
        "step": [
            .needs("login"), .needs("kind"), .takes("fields", .array), .takes("message"), .takes("sent_to"),
            .takes("expires_at", .number), .takes("resend_at", .number), .takes("verification_uri"),
            .takes("verification_uri_complete"), .takes("user_code"), .takes("url"), .takes("redirect_scheme"),
            .takes("certificate_sha256"), .takes("status", .object), .takes("error", .any),
        ],
        "sessions": [.takes("sessions", .array)],
        "status": [
            .needs("session"), .needs("provider"), .takes("environment"), .needs("state"), .takes("cause"),
            .takes("message"), .takes("user", .object), .takes("needs_password", .boolean), .takes("renews", .boolean),
            .takes("remembered", .boolean), .takes("expires_at", .number), .takes("refresh_at", .number),
            .takes("issued_at", .number), .takes("ends_at", .number), .takes("signed_in_at", .number),
            .takes("last_error"), .takes("unsaved", .boolean), .takes("scopes", .array), .takes("store_error"),
            .takes("clock_skew_ms", .integer),
            .takes("store"),
            .takes("default", .boolean),
        ],
        "token": [
            .needs("access_token"), .needs("token_type"), .takes("expires_at", .number), .takes("valid_ms", .integer),
            .needs("session"),
        ],
        "proof": [.needs("proof"), .needs("session")],
        "user": [
            .needs("user", .object), .takes("raw", .any), .takes("fetched_at", .number), .takes("age_ms", .integer),
        ],
        "response": [
            .needs("status", .integer), .takes("headers", .object), .takes("body", .any), .takes("body_base64"),
            .takes("stream"), .takes("size", .integer), .takes("from_cache", .boolean), .takes("age_ms", .integer),
            .takes("page", .object), .takes("queued"),
        ],
        "taken": [.needs("next", .integer), .takes("done", .boolean)],
        "piece": [.needs("body_base64"), .needs("last", .boolean)],
        "network": [
            .needs("state"), .needs("since", .number), .takes("providers", .object), .takes("clock_skew_ms", .object),
        ],
        "outbox": [.takes("entries", .array)],
        "parcel": [.needs("parcel_base64"), .needs("sessions", .array)],
        "trust": [
            .needs("former", .array), .needs("origins", .array), .needs("trusted", .boolean), .needs("status", .object),
        ],
        "imported": [.needs("sessions", .array)],
    ]
}
