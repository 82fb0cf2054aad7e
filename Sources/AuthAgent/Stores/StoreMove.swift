import AuthModel
import AuthWire

/// All that one store holds, copied to another: everything, or nothing.
struct StoreMove {
    struct Copies {
        let records: [SessionRecord]
        /// For the user: the providers whose registered client the source cannot read, and why. One
        /// element counts those that the client may not know. The next sign-in there registers another client.
        let unreadableClients: [String]
    }

    let source: MovableStore.Store
    let target: MovableStore.Store
    /// The sessions that messages may name.
    var names = SessionNames.all

    /// Returns what was copied, after it was read back from the target. After an error the target is unchanged.
    func copy() async throws(AgentError) -> Copies {
        let records = try await self.records(of: source)
        let there = try await self.records(of: target)
        for record in records {
            // A record of the same sign-in was left by a move that did not complete.
            if let other = there.first(where: { $0.session == record.session }), record.signIn != other.signIn {
                throw AgentError(
                    .conflict,
                    "The store \(target.kind.rawValue) has another record of \(names.text(record.session)): sign out of "
                        + "one of them first.")
            }
        }
        do throws(AgentError) {
            return Copies(records: records, unreadableClients: try await write(records))
        } catch {
            // What cannot be removed does no harm: the next move overwrites it.
            for record in records where !there.contains(where: { $0.session == record.session }) {
                try? await target.delete(record.session)
            }
            throw error
        }
    }

    /// Removes each copy that is as it was moved, and that the new store, which is asked first, does not lack: what it
    /// has not any more, somebody has signed out of.
    ///
    /// - Returns: those that are left because a store could not be asked.
    static func removeCopies(
        of move: UnfinishedMove, from old: any SessionStore, keepingWhatLacks new: any SessionStore
    ) async -> [UnfinishedMove.Copy] {
        var left: [UnfinishedMove.Copy] = []
        for copy in move.copies {
            do throws(StoreError) {
                let kept = try await new.load(copy.session)
                guard let record = try await old.load(copy.session), copy.isStill(record) else { continue }
                // The old store has a newer record, so it is not a copy.
                if let kept, kept.signIn == record.signIn, !kept.version.covers(record.version) { continue }
                try await old.delete(copy.session)
            } catch {
                left.append(copy)
            }
        }
        return left
    }

    /// - Returns: ``Copies/unreadableClients``.
    private func write(_ records: [SessionRecord]) async throws(AgentError) -> [String] {
        let unreadableClients: [String]
        do throws(StoreError) {
            for record in records { try await target.save(record) }
            if let key = try await source.key(for: .outbox) { try await target.save(key, for: .outbox) }
            unreadableClients = try await writeClients(of: records)
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

    /// - Returns: ``Copies/unreadableClients``.
    private func writeClients(of records: [SessionRecord]) async throws(StoreError) -> [String] {
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
