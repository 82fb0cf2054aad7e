import AuthModel
import AuthWire

/// Why etcd did not do what was requested (etcd, `api/v3rpc/rpctypes`). Versions differ in the status of HTTP, so the
/// code of gRPC and etcd's own text decide.
enum EtcdRefusal: Error, Sendable, Equatable {
    /// A new token is needed: the former one has expired, or the users have changed.
    case tokenInvalid
    /// etcd has no users.
    case hasNoUsers
    case denied(reason: String)
    case noSpace
    case tooLarge
    case compacted
    case leaseNotFound
    /// There is no leader now, or it did not answer in time: another attempt may succeed.
    case unavailable(reason: String)
    /// This member does not work, or something else has answered in its place: another one may carry it out.
    case faulty(reason: String)
    case other(reason: String)

    /// - Parameter status: of HTTP.
    init(status: Int, _ body: JSON?) {
        let written = body?["message"]?.stringValue ?? body?["error"]?.stringValue
        let code = body?["code"]?.integerValue ?? body?["grpc_code"]?.integerValue ?? Self.code(ofStatus: status)
        let text = written ?? "HTTP status \(status)"
        for (part, meaning) in Self.texts where text.contains(part) {
            self = meaning
            return
        }
        // A proxy may have a lower limit than etcd.
        if written == nil, status == 413 {
            self = .tooLarge
            return
        }
        let reason = Self.shown(text)
        switch code {
        case 16: self = .tokenInvalid
        case 7: self = .denied(reason: reason)
        case 4, 14: self = .unavailable(reason: reason)
        case _ where text.contains("authentication failed") || text.contains("permission denied"):
            self = .denied(reason: reason)
        // Cancelled, unknown, internal.
        case 1, 2, 13: self = .faulty(reason: reason)
        default: self = .other(reason: reason)
        }
    }

    /// - Parameter body: of a response with this status.
    init(status: Int, bytes body: [UInt8]) {
        // etcd checks the certificate before it reads the request, and this refusal is not JSON.
        guard !String(decoding: body.prefix(200), as: UTF8.self).hasPrefix("CommonName of client") else {
            self = .denied(reason: "while it has users, it accepts only client certificates without a common name (CN)")
            return
        }
        self.init(status: status, try? JSON(parsing: body, values: EtcdLimits.jsonValues))
    }

    private static let texts: [(String, EtcdRefusal)] = [
        // Without a token, since users were enabled.
        ("user name is empty", .tokenInvalid), ("invalid auth token", .tokenInvalid),
        ("revision of auth store is old", .tokenInvalid),
        ("authentication is not enabled", .hasNoUsers), ("database space exceeded", .noSpace),
        ("request is too large", .tooLarge), ("required revision has been compacted", .compacted),
        ("requested lease not found", .leaseNotFound), ("no leader", .unavailable(reason: "there is no leader")),
        ("leader changed", .unavailable(reason: "the leader changed")),
        ("request timed out", .unavailable(reason: "the members did not agree in time")),
        ("too many requests", .unavailable(reason: "too many requests")),
        ("server stopped", .unavailable(reason: "the member stopped")),
    ]

    /// Codes of gRPC for a response without one, as of a proxy.
    private static func code(ofStatus status: Int) -> Int64 {
        switch status {
        case 401: 16
        case 403: 7
        case 429, 502, 503: 14
        case 504: 4
        case 400: 3
        case 405, 501: 12
        default: 2
        }
    }

    /// Somebody else's text in a message: short, and without control characters.
    private static func shown(_ text: String) -> String {
        let visible = text.unicodeScalars.prefix(200).map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: visible)
        return String(shown)
    }

    /// What it means for a caller, if nothing is tried again.
    var fault: ClusterFault {
        switch self {
        case .tokenInvalid: .denied(reason: "it accepts no token")
        case .hasNoUsers: .denied(reason: "it has no users")
        case .denied(let reason): .denied(reason: reason)
        case .noSpace: .noSpace
        case .tooLarge: .tooLarge(bytes: 0, limit: 0)
        case .compacted: .compacted
        case .leaseNotFound: .leaseLost
        case .unavailable(let reason), .faulty(let reason): .unreachable(reason: reason)
        case .other(let reason): .invalid(reason: reason)
        }
    }

    /// The same for a watch that ended.
    var watchFault: ClusterFault {
        switch self {
        case .tokenInvalid: .tokenExpired
        case .unavailable(let reason), .faulty(let reason), .other(let reason): .watchLost(reason: reason)
        default: fault
        }
    }
}

extension ClusterFault {
    /// Whether etcd responds, but does not accept the request, or its response cannot be used.
    var isRefusal: Bool {
        switch self {
        case .noSpace, .denied, .invalid, .tooLarge: true
        default: false
        }
    }
}
