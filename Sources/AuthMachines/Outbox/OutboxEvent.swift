package import AuthModel
package import AuthWire

/// What the outbox hears of the world.
package enum OutboxEvent: Sendable {
    /// What was there at the start.
    case loaded([OutboxEntry])
    /// It is in the store.
    case added(OutboxEntry, isAwaited: Bool)
    /// How every session is placed that there is.
    case looked([SessionName: Deliverability])
    case answered(String, Result<APIResponse, AgentError>)
    /// The store has it as the action said, or could not.
    case settled(String, OutboxError?)
    case callerGone(String)
    case wake
    /// A person wants these tried now, whatever is known of the network.
    case flush([String])
    /// The store no longer has its verdict.
    case revived(String)
    /// They are gone from the store.
    case dropped([String])
}

/// What the outbox does.
package enum OutboxAction: Sendable, Equatable {
    case send(OutboxEntry)
    case remove(String)
    case note(AgentError, on: String)
    case answer(String, OutboxReply)
    case tell(String, OutboxItem)
    case wakeAt(BootInstant?)
}

/// What the caller of a write is told.
package enum OutboxReply: Sendable, Equatable {
    case sent(APIResponse)
    case refused(AgentError)
    /// It waits.
    case queued
}

/// Whether a session's writes can be sent, as far as is known without trying.
package struct Deliverability: Sendable, Equatable {
    /// It is signed in, and its network lets it out.
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
    /// Whether the provider's no stands, however often this write is sent.
    package var isFinalForWrite: Bool {
        if let httpStatus, [408, 425].contains(httpStatus) { return false }
        // A new sign-in may change it.
        if cause == Self.tokenRefusal { return false }
        return switch kind {
        case .validation, .refused, .forbidden, .notFound, .conflict, .denied, .tooLarge, .unknownEndpoint,
            .unknownProvider, .unsupported, nil:
            true
        // A disk that fails has not answered, and a provider in trouble has not said no.
        case .internal_, .providerError: !retryable
        default: false
        }
    }
}
