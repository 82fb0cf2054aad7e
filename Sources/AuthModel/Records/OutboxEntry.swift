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

    package let id: String
    package let session: SessionName
    package let owner: Owner
    /// The sign-in that it belongs to; `nil` for an entry of an older authd.
    package let signIn: SignInID?
    /// For users.
    package let title: String
    package let idempotencyKey: String
    /// Of a multipart body, so that each try sends the same bytes; `nil` for an entry of an older authd.
    package let boundary: String?
    package let queuedAt: WallTime
    /// The provider's final refusal.
    package var finalRefusal: AgentError?

    package init(
        id: String, session: SessionName, owner: Owner, signIn: SignInID? = nil, title: String, idempotencyKey: String,
        boundary: String? = nil, queuedAt: WallTime, finalRefusal: AgentError? = nil
    ) {
        self.id = id
        self.session = session
        self.owner = owner
        self.signIn = signIn
        self.title = title
        self.idempotencyKey = idempotencyKey
        self.boundary = boundary
        self.queuedAt = queuedAt
        self.finalRefusal = finalRefusal
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
}
