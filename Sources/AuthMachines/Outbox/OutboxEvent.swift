package import AuthModel
package import AuthWire

/// What happens to the outbox.
package indirect enum OutboxEvent: Sendable {
    case requested(CallerID, OutboxCommand)
    case callerGone(CallerID)
    /// How each session is now. `mayLoad`: the store of sessions is open, so that what waits can be read without a prompt.
    case statusChanged([SessionName: Deliverability], mayLoad: Bool)
    /// The store has carried out its call, or could not. The entries are those that ``OutboxStoreCall/load`` has found.
    case stored(Result<[OutboxEntry], OutboxError>)
    case answered(String, Result<APIResponse, AgentError>)
    case wake
    /// The agent is stopping: nothing is sent any more, and each caller gets its reply.
    case stopping
}

/// What a caller requests from the outbox.
package enum OutboxCommand: Sendable {
    case post(OutboxEntry, OutboxWrite)
    case list(OutboxParams)
    /// Sends these now, whatever is known of the network; those that were given up only if they are named. The reply
    /// comes when these have been tried, and lists those of them that are left.
    case flush(OutboxParams)
    case drop(OutboxParams)
}

/// What is sent for an entry.
package struct OutboxWrite: Sendable {
    package let request: OutboxRequest
    /// `nil`: it was read from the store, and is prepared when it is sent.
    package let call: PreparedCall?

    package init(_ request: OutboxRequest, as call: PreparedCall? = nil) {
        self.request = request
        self.call = call
    }
}

/// What the outbox does.
package indirect enum OutboxAction: Sendable {
    /// The next one comes only after ``OutboxEvent/stored(_:)``.
    case store(OutboxStoreCall)
    /// Sends it once. Without the write, it is read from the store. `inAnySignIn`: the user named the entry.
    case send(OutboxEntry, OutboxWrite?, inAnySignIn: Bool)
    case publish(String, OutboxItem)
}

package indirect enum OutboxStoreCall: Sendable, Equatable {
    case load
    case add(OutboxEntry, OutboxRequest)
    /// The provider's final answer; `nil`: the entry waits again.
    case record(AgentError?, on: String)
    case remove(String)
    /// It is empty, and need not be held open.
    case release
}

/// What a caller gets.
package indirect enum OutboxReply: Sendable, Equatable {
    case sent(APIResponse)
    /// The write waits in the store.
    case queued
    case list([OutboxItem])
    case refused(AgentError)
}

/// Whether a session's writes can be sent, as far as is known without trying.
package struct Deliverability: Sendable, Equatable {
    /// It is signed in, and its network lets requests through.
    package var maySend: Bool
    /// The provider answered last.
    package var isReached: Bool
    /// When the network became what it is, in Unix seconds.
    package var since: Double

    package init(maySend: Bool, isReached: Bool, since: Double) {
        self.maySend = maySend
        self.isReached = isReached
        self.since = since
    }

    /// Whether something that stood in the way has gone.
    func improves(than former: Deliverability?) -> Bool {
        guard maySend else { return false }
        guard let former, former.maySend else { return true }
        return (isReached && !former.isReached) || since != former.since
    }
}

extension AgentError {
    /// Whether the provider's refusal stays the same, however often this write is sent.
    package var isFinalForWrite: Bool {
        if let httpStatus, [408, 425].contains(httpStatus) { return false }
        // A new sign-in may change it.
        if cause == Self.tokenRefusal { return false }
        return switch kind {
        case .validation, .refused, .forbidden, .notFound, .conflict, .denied, .tooLarge, .unknownEndpoint,
            .unknownProvider, .unsupported, nil:
            true
        // A disk that fails has not answered, and a provider in trouble has not refused.
        case .internal_, .providerError: !retryable
        default: false
        }
    }
}

extension AgentError {
    static let dropped = AgentError(.denied, "It was dropped from the outbox.", cause: "dropped")

    static let full = AgentError(
        .busy, "\(OutboxMachine.maxEntries) writes wait already: `authc outbox list` shows them.", cause: "outbox_full")

    static func noEntry(_ id: String) -> AgentError {
        AgentError(
            .notFound, "There is no entry \(id.prefix(32)) in the outbox: `authc outbox list` shows what waits.")
    }

    static func notRecorded(_ error: OutboxError) -> AgentError {
        var failure = AgentError(error)
        failure.message = "The provider has responded, and the write is not sent again. \(failure.message)"
        return failure
    }
}

extension OutboxParams {
    func matches(_ entry: OutboxEntry) -> Bool {
        (id == nil || id == entry.id) && (session == nil || session == entry.session)
    }
}
