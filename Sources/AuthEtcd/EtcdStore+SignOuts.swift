import AuthModel
import AuthSealedFile
import AuthWire

/// Sign-outs, and the lists of ended sign-ins that they leave (Docs/decisions/restored-etcd.md). A record lists the sign-ins before
/// its own, but a sign-out removes the record. So a host reads the list before it writes the next record.
///
/// Invariant: if etcd refuses the list, users can sign in and out without it.
extension EtcdStore {
    /// How often a list is sent if other hosts change the record of the cluster meanwhile.
    private static let listAttempts = 4

    /// Removes a record if it is still as it was read.
    /// - Parameter lease: that of the list: granted once, however often the removal is refused.
    /// - Returns: the outcome. If the record was changed, it contains the present one.
    func signOut(
        of session: SessionName, in entry: EtcdEntry, leaving lease: inout Int64?
    ) async throws(StoreError) -> EtcdTransaction {
        if let outcome = try await unlessRefused({ () throws(StoreError) in
            try await listedSignOut(of: session, in: entry, &lease)
        }) {
            return outcome
        }
        return try await transaction(removal(of: session, in: entry))
    }

    /// The same with the list, which is on a lease: sessions whose names are never used again must not fill etcd.
    /// - Returns: `nil` if there is nothing to list, or if other hosts changed the record of the cluster at every attempt.
    private func listedSignOut(
        of session: SessionName, in entry: EtcdEntry, _ lease: inout Int64?
    ) async throws(StoreError) -> EtcdTransaction? {
        let former = view.state
        guard let content = FormerSignIns.content(view.signIns(before: nil, of: session)) else { return nil }
        let generation = SealedBytes.generation(after: view.generation(of: session))
        if lease == nil { lease = try await send(.grantLease(seconds: EtcdLimits.signOutSeconds)).leaseID() }
        guard let lease else { return nil }
        let place = places.signOut(session)
        for _ in 1...Self.listAttempts {
            let member = try await opened()
            guard let key = member.accepted.currentKeys.first else { return nil }
            let sealed = try SealedBytes.seal(content, name: place, label: "", generation: generation, key: key)
            guard !hasGoneBack(since: former) else { throw .cluster(.wentBack) }
            let answer = try await send(
                removal(
                    of: session, in: entry, if: member.conditions(at: places),
                    with: .put(sealed, to: place, lease: lease)))
            let outcome = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
            guard !outcome.succeeded, outcome.entries[entry.key]?.modRevision == entry.modRevision else {
                return outcome
            }
            saw(mark: outcome.entries[places.history])
            _ = try await reopened(instead: member)
        }
        return nil
    }

    private func removal(
        of session: SessionName, in entry: EtcdEntry, if conditions: [EtcdRequest.Condition] = [],
        with list: EtcdRequest.Operation? = nil
    ) -> EtcdRequest {
        let deletions: [EtcdRequest.Operation] = [
            .delete(entry.key), .delete(places.lifetime(session)), .delete(places.intent(session)),
        ]
        return .transaction(
            [.changed(key: entry.key, at: entry.modRevision)] + conditions,
            then: deletions + (list.map { [$0] } ?? []),
            otherwiseReading: [entry.key, places.cluster, places.history])
    }

    /// Notes which sign-ins had ended when the session was last signed out of: the next record lists them, too. A list that
    /// does not open, or that a removed host has written, says nothing.
    /// - Parameter signIn: that of the record which is written.
    /// - Returns: whether that sign-in had ended, too.
    func noteSignOut(
        _ list: EtcdEntry, before signIn: SignInID, of session: SessionName
    ) async throws(StoreError) -> Bool {
        guard let found = try await unlessDamaged({ () throws(StoreError) in try await unsealed(list) }), !found.isLate
        else { return false }
        let former = FormerSignIns.list(in: try? JSON(parsing: found.content.revealBytes()))
        view.saw(former: former.filter { $0 != signIn }, of: session)
        return former.contains(signIn)
    }

    /// `nil` if etcd has refused a request, or does not have the lease any more. Without space, for example, it still
    /// removes keys.
    private func unlessRefused<Value>(
        _ work: () async throws(StoreError) -> Value?
    ) async throws(StoreError) -> Value? {
        do throws(StoreError) {
            return try await work()
        } catch {
            guard case .cluster(let fault) = error, fault.isRefusal || fault == .leaseLost else { throw error }
            return nil
        }
    }
}
