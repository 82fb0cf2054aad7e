internal import AuthModel
internal import AuthWire

/// Before a refresh token is spent, the store must have accepted a write in this run.
///
/// A provider that rotates refresh tokens accepts each of them once. A keyring may ask the user about each write, or refuse it:
/// if the agent ends before the answer, the store still has the spent token, and the session is lost. Therefore the stored
/// record is written once more before the first renewal. That write changes nothing, and costs nothing if it fails.
extension SessionMachine {
    /// Whether a provider rotates is unknown before a renewal: every refresh token counts as spent. Hosts that share a session
    /// know it from the last renewal of any of them: if that kept the refresh token, a host that has never written the
    /// session renews it without etcd, too.
    ///
    /// A record that the store never had, and has refused, exists only in memory: spending its token loses nothing.
    var needsStoreProbe: Bool {
        guard !storeAccepts || lacksRefreshToken, record.tokens.refreshToken != nil else { return false }
        if sharesRenewals, record.tokens.keepsRefreshToken { return false }
        return wasStored || mayBeStored || writer.isSaving
    }

    /// The refresh token in the store has already been replaced. If it were replaced twice, and this host stopped
    /// before the write, another host would send one that no grace window covers.
    private var lacksRefreshToken: Bool {
        guard sharesRenewals, let storedTokens else { return false }
        return storedTokens.refreshToken != record.tokens.refreshToken
    }

    var isProbingStore: Bool {
        if case .probingStore = currentRequest?.stage { true } else { false }
    }

    /// The second stage of a request: sends it with the current tokens.
    mutating func sendToProvider(_ turn: inout SessionTurn) {
        guard var currentRequest else { return }
        requests.insert(currentRequest.id)
        currentRequest.stage = .requesting
        currentRequest.generation = record.generation
        currentRequest.sent = record.tokens.pair
        self.currentRequest = currentRequest
        turn.act(
            currentRequest.target.map { .requestTargeted(currentRequest.id, record, $0) }
                ?? .renew(currentRequest.id, record))
    }

    /// The store has replied to a call: a renewal that waited for it continues, or has failed.
    mutating func storeReplied(_ turn: inout SessionTurn) {
        guard isProbingStore, !signedOut else { return }
        if !needsStoreProbe {
            storeProbeFailed = false
            if let networkError { return networkEnded(networkError, &turn) }
            sendToProvider(&turn)
        } else if let error = writer.lastError {
            storeDidNotAccept(AgentError(error), &turn)
        }
    }

    /// The network was lost during the write: nothing is sent, as if the provider had not answered.
    private mutating func networkEnded(_ error: AgentError, _ turn: inout SessionTurn) {
        if let target = currentRequest?.target {
            targetedRequestEnded(target, .failure(error), &turn)
        } else {
            failed(error, retryAfter: nil, &turn)
        }
        rejectTargetedWaits(error, &turn)
    }

    /// The provider got no request: its back-off stays, and the store's counts.
    mutating func storeDidNotAccept(_ error: AgentError, retryAt: BootInstant? = nil, _ turn: inout SessionTurn) {
        if let target = currentRequest?.target {
            targetedRequestEnded(target, .failure(error), &turn)
            return rejectTargetedWaits(error, &turn)
        }
        currentRequest = nil
        storeProbeFailed = true
        lastFailure = error
        failedAt = turn.now.boot
        plan = RenewalPlan(at: retryAt ?? writer.retryAt ?? turn.now.boot, now: turn.now)
        answerUnrenewed(error, &turn)
        rejectTargetedWaits(error, &turn)
    }
}

extension StoreError {
    /// The record may have been written, or may still be written.
    var mayBeWritten: Bool {
        switch self {
        case .waiting, .notAnswering: true
        case .cluster(let fault): fault.isConnection
        case .locked, .dismissed, .sealed, .missing, .denied, .failed: false
        }
    }
}
