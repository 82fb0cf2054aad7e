internal import AuthModel
internal import AuthWire

/// Before a refresh token is spent, the store has accepted a write in this run.
///
/// A provider that rotates refresh tokens takes each of them once. A keyring may ask the user about each write, or refuse it: if
/// the agent ends before the answer, the store still holds the token that was spent, and the session is lost. So what the
/// store holds is written to it once more before the first renewal. That write changes nothing, and costs nothing if it
/// fails.
extension SessionMachine {
    /// A provider that does not rotate is not known before it was asked: every refresh token counts as one that is spent.
    ///
    /// A record that the store never held, and has refused, is in memory alone: spending its token takes nothing away.
    var needsStoreProbe: Bool {
        guard !storeAccepts, record.tokens.refreshToken != nil else { return false }
        return wasStored || mayBeStored || writer.isSaving
    }

    var isProbingStore: Bool {
        if case .probingStore = flight?.stage { true } else { false }
    }

    /// The flight's second stage: asks with the tokens that are in use now.
    mutating func sendToProvider(_ turn: inout SessionTurn) {
        guard let flight else { return }
        requests.insert(flight.id)
        self.flight?.stage = .asking
        self.flight?.generation = record.generation
        self.flight?.spent = record.tokens.refreshToken
        turn.act(flight.aim.map { .obtain(flight.id, record, $0) } ?? .renew(flight.id, record))
    }

    /// The store has answered a call: a renewal that waited for it goes on, or has failed.
    mutating func storeReplied(_ turn: inout SessionTurn) {
        guard isProbingStore, !signedOut else { return }
        if !needsStoreProbe {
            storeProbeFailed = false
            sendToProvider(&turn)
        } else if let error = writer.lastError {
            notProven(AgentError(error), &turn)
        }
    }

    /// The provider was not asked: its back-off stays as it is, and the store's counts.
    private mutating func notProven(_ error: AgentError, _ turn: inout SessionTurn) {
        if let aim = flight?.aim {
            targetedRequestEnded(aim, .failure(error), &turn)
            return rejectTargetedWaits(error, &turn)
        }
        flight = nil
        storeProbeFailed = true
        lastFailure = error
        failedAt = turn.now.boot
        plan = RenewalPlan(at: writer.retryAt ?? turn.now.boot, now: turn.now)
        answerUnrenewed(error, &turn)
        rejectTargetedWaits(error, &turn)
    }
}

extension StoreError {
    /// What was to be written may be there all the same, or come to be there.
    var mayBeWritten: Bool {
        switch self {
        case .waiting, .notAnswering: true
        case .locked, .dismissed, .sealed, .missing, .denied, .failed: false
        }
    }
}
