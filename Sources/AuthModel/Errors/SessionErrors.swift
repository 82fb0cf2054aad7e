package import AuthWire

/// Error messages of sessions and stores.
extension AgentError {
    package static func notSignedIn(_ session: SessionName, at provider: String? = nil) -> AgentError {
        AgentError(.notSignedIn, "Session \(session) is not signed in: run \(login(session, provider)).")
    }

    package static func signInRequired(
        _ session: SessionName, at provider: String? = nil, cause: String, from error: AgentError? = nil
    ) -> AgentError {
        AgentError(
            .signInRequired, "Session \(session) must be signed in again: run \(login(session, provider)).",
            cause: cause, httpStatus: error?.httpStatus, providerMessage: error?.providerMessage)
    }

    /// The command that the user can type.
    private static func login(_ session: SessionName, _ provider: String?) -> String {
        "`\(CommandText.login(provider ?? "PROVIDER", session: session))`"
    }

    package static func cannotRenew(_ provider: String) -> AgentError {
        AgentError(.unsupported, "Provider \(provider) does not renew sessions: the session ends with its token.")
    }

    package static func unknownSession(_ session: SessionName) -> AgentError {
        AgentError(.unknownSession, "There is no session named \(session): run `authc list` to see all sessions.")
    }

    package static let noSession = AgentError(
        .notSignedIn, "No session exists: run `authc login`.")

    /// - Parameter sessions: all sessions.
    package static func noDefault(_ sessions: [SessionStatus]) -> AgentError {
        AgentError(
            .notSignedIn,
            "There is no default session: select one with `-s`, or set it with `authc use NAME`.",
            cause: noDefaultCause, details: sessions.map { "\($0.session) at \($0.provider)" })
    }

    package static let noDefaultCause = "no_default"

    /// - Parameter others: descriptions of sessions whose token is for `origin`.
    package static func otherOrigin(
        _ origin: Origin, _ session: SessionName, _ places: [Origin], _ others: [String]
    ) -> AgentError {
        let own = places.isEmpty ? "no known origin" : places.map(\.text).joined(separator: ", ")
        return AgentError(
            .denied, "The token of session \(session) is for \(own), not for \(origin). authd does not return it.",
            cause: otherOriginCause, details: others)
    }

    package static let otherOriginCause = "other_origin"
    /// Without the name of the session.
    package static let otherOriginText = "The token of this session is not for that origin. authd does not return it."
    package static let severalSessionsCause = "several_sessions"

    package static func severalSessions(_ sessions: [SessionName], at origin: Origin) -> AgentError {
        AgentError(
            .denied, "Several sessions belong to \(origin), and none of them is the default: name one.",
            cause: severalSessionsCause, details: sessions.map { "`-s \($0)`" })
    }

    package static func unknownProvider(_ provider: String) -> AgentError {
        AgentError(
            .unknownProvider, "There is no provider named \(provider): run `authc provider list` to see all providers.")
    }

    package static let offline = AgentError(
        .offline, "The machine is offline; authd continues when there is a network.", cause: "no_network")

    package static let noNetworkInTime = AgentError(
        .offline, "There was no network in the time allowed.", cause: "offline")

    package static let captivePortal = AgentError(
        .captivePortal,
        "This network requires a sign-in: open any page in a browser. authd continues afterwards.",
        cause: "portal")

    /// The cause of the error if a call's token was refused, renewed and refused again.
    package static let tokenRefusal = "token_refused"

    package static let unknownLogin = AgentError(
        .notFound, "This sign-in is not in progress: it has ended, or was never started.")

    /// For callers who ask before the store has been read.
    package static func storeNotRead(_ store: StoreInfo) -> AgentError {
        let message = store.message
        return switch store.state {
        case .locked: AgentError(store.kind.isSealed ? .sealed : .locked)
        case _ where store.cause != nil:
            AgentError(.keyringUnavailable, message ?? "The store failed.", cause: store.cause)
        case .waiting: AgentError(.waiting)
        case .notAnswering:
            AgentError(.keyringUnavailable, message ?? "The store does not respond.", cause: "not_answering")
        case .denied where message == nil:
            AgentError(.dismissed)
        case .denied: AgentError(.denied, message ?? "The keyring refused the request.", cause: "denied")
        case .failed: AgentError(.keyringUnavailable, message ?? "The store failed.", cause: "failed")
        case .missing, .starting, .ready:
            AgentError(.keyringUnavailable, message ?? "There is no keyring.", cause: store.state.rawValue)
        }
    }

    /// The cause while the keyring asks the user.
    static let keyringWaiting = "keyring_waiting"

    /// The cause in a session's status.
    package var statusCause: String? {
        let isNamed = cause == Self.keyringWaiting || cause?.hasPrefix(ClusterFault.prefix) ?? false
        return isNamed ? cause : kind?.rawValue
    }

    package static let stopping = AgentError(
        .busy, "The agent is stopping: try again when it is back.", cause: "stopping")

    package static let agentLocked = AgentError(
        .agentLocked, "The agent is locked. Unlock it with `authc unlock`.")

    /// A cancelled caller does not read it.
    package static let callerGone = AgentError(.timeout, "The caller disconnected.")

    /// Locked, missing, denied and silent stores each require another action of the user.
    package init(_ error: StoreError) {
        switch error {
        case .locked:
            self.init(.keyringLocked, "The keyring is locked: unlock it on the desktop, and authd continues.")
        case .dismissed:
            // Dismissing the prompt is not a refusal: the keyring is locked, and can still be unlocked.
            self.init(
                .keyringLocked,
                "The keyring is locked, and the request to unlock it was dismissed: unlock it on the desktop, and "
                    + "authd continues.", cause: "dismissed")
        case .sealed:
            self.init(
                .keyringLocked,
                "The sessions are sealed with a passphrase: run `authc store unlock`.",
                cause: "passphrase")
        case .waiting:
            self.init(
                .keyringLocked,
                "The keyring is asking you a question: answer its dialog on the desktop, and authd continues.",
                cause: Self.keyringWaiting)
        case .missing(let reason):
            self.init(.keyringUnavailable, "There is no keyring: \(reason)", cause: "missing")
        case .denied(let reason):
            self.init(.denied, "The keyring refused the request: \(reason)", cause: "denied")
        case .notAnswering(let limit):
            self.init(
                .keyringUnavailable, "The store did not respond within \(Int(limit.seconds)) s.",
                cause: "not_answering")
        case .failed(let reason):
            self.init(.keyringUnavailable, "The store failed: \(reason)", cause: "failed")
        case .cluster(let fault):
            self.init(.keyringUnavailable, fault.message, cause: fault.name)
        }
    }
}

extension AgentError {
    package init(_ error: OutboxError) {
        switch error {
        case .key(let error): self.init(error)
        case .full(let bytes):
            self.init(
                .busy, "The outbox is full (\(bytes >> 20) MiB): run `authc outbox list` to see what waits.",
                cause: "outbox_full")
        case .disk(let reason):
            self.init(.internal_, "The outbox cannot be read or written: \(reason)", cause: "outbox", retryable: true)
        }
    }
}

extension AgentError {
    /// Signed out, but the store has not removed it yet.
    package static func notRemoved(_ error: AgentError) -> AgentError {
        var result = error
        result.message =
            "You are signed out, but the session is still in the store; authd will remove it as soon as possible. "
            + error.message
        return result
    }
}

extension AgentError {
    /// The sign-out could not be recorded for the next start.
    package func withUnrecordedSignOut(_ error: StoreError) -> AgentError {
        var result = self
        result.message +=
            " The sign-out could not be saved to disk: if authd restarts before then, the session "
            + "returns. \(AgentError(error).message)"
        return result
    }
}

extension ProviderFailure {
    /// The provider asked clients to wait, in a response to another session.
    package static func askedToWait(for wait: Duration) -> ProviderFailure {
        .temporary(
            AgentError(
                .rateLimited, "The provider asked clients to wait; authd will try again by itself.",
                cause: "retry_after", retryAfter: wait), retryAfter: wait)
    }
}
