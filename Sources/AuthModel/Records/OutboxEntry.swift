package import AuthWire

/// A queued write, as far as it is known while it waits: the request itself stays in the store.
package struct OutboxEntry: Sendable, Equatable {
    /// The account that it is sent for.
    package struct Owner: Sendable, Equatable {
        package var provider: String
        package var environment: String
        /// `nil` if the provider does not report it.
        package var userID: String?

        package init(provider: String, environment: String, userID: String? = nil) {
            self.provider = provider
            self.environment = environment
            self.userID = userID
        }

        package init(_ record: SessionRecord) {
            self.init(provider: record.provider, environment: record.environment, userID: record.user?.id)
        }
    }

    package var id: String
    package var session: SessionName
    package var owner: Owner
    /// The sign-in that it belongs to; `nil` for an entry of an older authd.
    package var signIn: SignInID?
    /// For users.
    package var title: String
    package var idempotencyKey: String
    /// Separates the parts of a multipart body, the same in each try; `nil` for an entry of an older authd.
    package var boundary: String?
    package var queuedAt: WallTime
    /// The program that queued it, for the access rules when it is sent; `nil` for an entry of an older authd.
    package var caller: AccessFacts?
    /// The provider's final refusal.
    package var finalRefusal: AgentError?

    package init(
        id: String, session: SessionName, owner: Owner, signIn: SignInID? = nil, title: String, idempotencyKey: String,
        boundary: String? = nil, queuedAt: WallTime, caller: AccessFacts? = nil, finalRefusal: AgentError? = nil
    ) {
        self.id = id
        self.session = session
        self.owner = owner
        self.signIn = signIn
        self.title = title
        self.idempotencyKey = idempotencyKey
        self.boundary = boundary
        self.queuedAt = queuedAt
        self.caller = caller
        self.finalRefusal = finalRefusal
    }
}

extension OutboxEntry {
    package init(
        _ request: OutboxRequest, by caller: AccessFacts?, of record: SessionRecord, key: String, boundary: String,
        at now: WallTime
    ) {
        self.init(
            id: Self.newID(), session: record.session, owner: Owner(record), signIn: record.signIn,
            title: request.title, idempotencyKey: key, boundary: boundary, queuedAt: now, caller: caller)
    }

    /// Short enough to be typed.
    private static func newID() -> String {
        var source = SystemRandomNumberGenerator()
        let number: UInt64 = source.next()
        return String(number >> 32 | 1 << 32, radix: 36)
    }

    /// A version 4 UUID (RFC 9562 §5.4), of the system's random bytes: a provider treats a key that it knows as the same write,
    /// so a key must not be guessed.
    package static func newKey() -> String {
        var source = SystemRandomNumberGenerator()
        let (first, second): (UInt64, UInt64) = (source.next(), source.next())
        let high = (first & ~0xF000) | 0x4000
        let low = (second & (.max >> 2)) | 1 << 63
        let hex = [high, low].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        let cuts = [0, 8, 12, 16, 20, 32].map { hex.index(hex.startIndex, offsetBy: $0) }
        return zip(cuts, cuts.dropFirst()).map { String(hex[$0..<$1]) }.joined(separator: "-")
    }
}

/// The request, as the caller made it.
package enum OutboxRequest: Sendable, Equatable {
    case request(APIRequest)
    case call(APICall)

    package var session: SessionName? {
        get {
            switch self {
            case .request(let params): params.session
            case .call(let params): params.session
            }
        }
        set {
            switch self {
            case .request(var params):
                params.session = newValue
                self = .request(params)
            case .call(var params):
                params.session = newValue
                self = .call(params)
            }
        }
    }

    /// Without the query, which may contain more than a list should show.
    package var title: String {
        switch self {
        case .request(let params): params.method + " " + params.path.prefix { $0 != "?" }
        case .call(let params): params.endpoint
        }
    }

    package var streams: Bool {
        switch self {
        case .request(let params): params.streams
        case .call(let params): params.streams
        }
    }

    package var ownKey: String? {
        guard case .request(let params) = self else { return nil }
        return params.headers.first { $0.key.lowercased() == OutboxEntry.keyHeader }?.value
    }
}

extension OutboxEntry {
    /// draft-ietf-httpapi-idempotency-key-header §2, in lower case.
    package static let keyHeader = "idempotency-key"
    /// In bytes, of a caller's key: it is in every list and event.
    package static let longestKey = 255
}
