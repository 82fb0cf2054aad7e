import AuthModel
import AuthWire

/// Copies everything that one store holds to another. After a failed copy, the caller removes what was written.
struct StoreMove {
    struct Plan {
        /// Everything in the source.
        let records: [SessionRecord]
        /// Those of them that the target lacks.
        let added: [SessionRecord]
    }

    let source: MovableStore.Store
    let target: MovableStore.Store
    /// The sessions that messages may name.
    var names = SessionNames.all

    /// - Throws: if a record cannot be read, or if the target has another sign-in under the same name.
    func plan() async throws(AgentError) -> Plan {
        let records = try await self.records(of: source)
        let there = try await self.records(of: target)
        for record in records {
            // One of the same sign-in is an earlier copy.
            if let other = there.first(where: { $0.session == record.session }), record.signIn != other.signIn {
                throw AgentError(
                    .conflict,
                    "The store \(target.kind.rawValue) has another record of \(names.text(record.session)): sign out of "
                        + "one of them first.")
            }
        }
        let added = records.filter { record in !there.contains { $0.session == record.session } }
        return Plan(records: records, added: added)
    }

    /// Returns when all was read back from the target. After an error a part may be there.
    /// - Returns: for the user: the providers whose registered client the source cannot read, and why. One element counts those
    ///   that the client may not know. The next sign-in there registers another client.
    func copy(_ records: [SessionRecord]) async throws(AgentError) -> [String] {
        let unreadableClients: [String]
        do throws(StoreError) {
            for record in records { try await target.save(record) }
            if let key = try await source.key(for: .outbox) { try await target.save(key, for: .outbox) }
            unreadableClients = try await copyClients(of: records)
        } catch {
            throw AgentError(error)
        }
        let written = try await self.records(of: target)
        for record in records where !written.contains(record) {
            throw AgentError(
                .keyringUnavailable,
                "The record of \(names.text(record.session)) differs when it is read again from \(target.kind.rawValue)."
            )
        }
        return unreadableClients
    }

    /// - Throws: if another host has changed, added or removed a session since.
    func requireUnchanged(_ records: [SessionRecord]) async throws(AgentError) {
        guard source.leases != nil else { return }
        func versions(_ records: [SessionRecord]) -> [SessionName: RecordVersion] {
            Dictionary(records.map { ($0.session, $0.version) }) { first, _ in first }
        }
        guard try await versions(self.records(of: source)) == versions(records) else { throw .usedElsewhere }
    }

    func unfinished(_ phase: UnfinishedMove.Phase, _ records: [SessionRecord]) -> UnfinishedMove {
        UnfinishedMove(
            from: source.kind, to: target.kind, phase: phase, copies: records.map(UnfinishedMove.Copy.init))
    }

    /// Removes each unchanged copy. A copy that is newer than the session's own record stays. A copy without such a record is
    /// removed: its session was signed out.
    /// - Parameters:
    ///   - holder: the store with the copies.
    ///   - home: the one with the sessions.
    /// - Returns: those that are left because a store could not be asked.
    static func removeCopies(
        of move: UnfinishedMove, from holder: any SessionStore, sessionsIn home: any SessionStore
    ) async -> [UnfinishedMove.Copy] {
        var left: [UnfinishedMove.Copy] = []
        for copy in move.copies {
            do throws(StoreError) {
                let kept = try await home.load(copy.session)
                guard let record = try await holder.load(copy.session) else {
                    // Its write may still wait for the user.
                    if move.phase == .copying { _ = try await holder.delete(copy.session, of: copy.signIn) }
                    continue
                }
                guard copy.isStill(record) else { continue }
                // It is newer, so it is not a copy.
                if let kept, kept.signIn == record.signIn, !kept.version.covers(record.version) { continue }
                try await holder.delete(copy.session)
            } catch {
                left.append(copy)
            }
        }
        return left
    }

    /// - Returns: what ``copy(_:)`` returns.
    private func copyClients(of records: [SessionRecord]) async throws(StoreError) -> [String] {
        var unreadable: [String] = []
        var hidden = 0
        for provider in Set(records.filter { $0.client != nil }.map(\.provider)).sorted() {
            let purpose = KeyPurpose.client(provider: provider)
            if let key = try await source.key(for: purpose) {
                try await target.save(key, for: purpose)
            } else if let reason = try await source.damage(ofKeyFor: purpose) {
                // A session often has the name of its provider.
                if records.contains(where: { $0.provider == provider && names.contains($0.session) }) {
                    unreadable.append("\(provider) (\(reason))")
                } else {
                    hidden += 1
                }
            }
        }
        return unreadable + Self.hiddenProviders(hidden, areOthers: !unreadable.isEmpty)
    }

    /// - Parameter areOthers: whether they follow providers that are named.
    private static func hiddenProviders(_ count: Int, areOthers: Bool) -> [String] {
        switch count {
        case 0: []
        case 1: [areOthers ? "another provider" : "a provider"]
        default: ["\(count) \(areOthers ? "other " : "")providers"]
        }
    }

    private func records(of store: MovableStore.Store) async throws(AgentError) -> [SessionRecord] {
        var records: [SessionRecord] = []
        for stored in try await converting(StoreError.self, try await store.loadAll()) {
            switch stored {
            case .record(let record): records.append(record)
            case .damaged(let session, let reason):
                // Not `damaged`: HiddenSessions replaces messages with that cause, which may name any session.
                throw AgentError(
                    .keyringUnavailable,
                    "The record of \(names.text(stored: session)) cannot be read (\(reason)): sign in to it again, or sign out, "
                        + "before the others are moved.", cause: "damaged_record")
            }
        }
        return records
    }
}
