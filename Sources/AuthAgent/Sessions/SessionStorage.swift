package import AuthModel
package import AuthWire

/// Where sessions are kept, and what is kept of them elsewhere.
package struct SessionStorage: Sendable {
    let store: any SessionStore
    let pauses: RenewalPauses
    let signOuts: PendingSignOuts
    let handovers: PendingHandover
    /// Opens when clients are served. Sessions of the last run are not compared with the store before: reading the store takes
    /// processor time, and would delay the first answers about them.
    let clientsServed = Latch()
    /// Those comparisons, until then.
    let pendingComparisons = PendingWork()

    /// - Parameters:
    ///   - pauses: has the waits after failed renewals until the next run; `nil`: they end with this one.
    ///   - signOuts: has the sign-outs that the store has not carried out.
    ///   - handover: has sessions for the next run, which can then serve them before it reads the store.
    ///   - waitsForClients: whether ``SessionLoader/clientsAreServed()`` will be called.
    package init(
        store: any SessionStore, pauses: (any StateStore<[SessionName: RenewalPause]>)? = nil,
        signOuts: (any StateStore<[SessionName: SignInID]>)? = nil,
        handover: (any HandoverStore)? = nil, waitsForClients: Bool = false
    ) {
        self.store = store
        self.pauses = RenewalPauses(store: pauses)
        self.signOuts = PendingSignOuts(store: signOuts)
        handovers = PendingHandover(store: handover)
        if !waitsForClients { clientsServed.open() }
    }

    /// Hands over what has changed.
    func flushHandovers() { handovers.flush(of: store.kind) }

    /// Nothing is handed over while the agent is locked.
    func suspendHandovers() { handovers.suspend(of: store.kind) }

    func resumeHandovers() { handovers.resume(of: store.kind) }

    /// Called before the sessions are loaded.
    package func limitHandovers(_ limit: PendingHandover.Limit) { handovers.set(limit) }

    /// Whether the next run gets the newest tokens of that session, even if the store cannot be written.
    package func handsOver(_ session: SessionName) -> Bool {
        store.kind != .memory && handovers.handsOver(session)
    }

    /// All sessions of the store are known now.
    func storeWasRead() { handovers.storeWasRead(of: store.kind) }

    /// Another session may be the default one now.
    func defaultChanged() { handovers.defaultChanged(of: store.kind) }

    /// The limit may withhold other sessions now, or another session may be the default one.
    package func handoverLimitChanged() { handovers.limitChanged(of: store.kind) }
}
