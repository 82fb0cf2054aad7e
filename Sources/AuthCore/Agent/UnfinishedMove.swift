package import AuthWire

/// What a move has still to remove from the store that sessions were in. It is written down before the next start is told
/// to look in the new one, so that a kill in between leaves no copies for good.
///
/// Invariant: each copy was read again from the new store before it was written down here.
package struct UnfinishedMove: Sendable, Equatable {
    package struct Copy: Sendable, Equatable {
        package var session: SessionName
        package var signIn: SignInID
        /// ``RecordVersion/number``
        package var number: UInt64

        package init(session: SessionName, signIn: SignInID, number: UInt64) {
            self.session = session
            self.signIn = signIn
            self.number = number
        }

        init(_ record: SessionRecord) {
            self.init(session: record.session, signIn: record.signIn, number: record.version.number)
        }

        /// Nobody has signed in to it, renewed it or changed it since.
        fileprivate func isStill(_ record: SessionRecord) -> Bool {
            record.signIn == signIn && record.version.number <= number
        }
    }

    package var from: StoreKind
    package var to: StoreKind
    package var copies: [Copy]

    package init(from: StoreKind, to: StoreKind, copies: [Copy]) {
        self.from = from
        self.to = to
        self.copies = copies
    }

    /// Removes each copy that is as it was moved, and that the new store, which is asked first, does not lack: what it
    /// has not any more, somebody has signed out of.
    ///
    /// - Returns: those that are left because a store could not be asked.
    func clear(_ old: any SessionStore, keepingWhatLacks new: any SessionStore) async -> [Copy] {
        var left: [Copy] = []
        for copy in copies {
            do throws(StoreError) {
                let kept = try await new.load(copy.session)
                guard let record = try await old.load(copy.session), copy.isStill(record) else { continue }
                // Older there than here: that is none of a move's doing.
                if let kept, kept.signIn == record.signIn, !kept.version.covers(record.version) { continue }
                try await old.delete(copy.session)
            } catch {
                left.append(copy)
            }
        }
        return left
    }
}

/// Where an unfinished move outlives a run.
package protocol UnfinishedMoveKeeper: Sendable {
    func load() async -> UnfinishedMove?
    /// It is on disk when this returns, even if the task is cancelled; `nil`: nothing is left to do.
    func keep(_ move: UnfinishedMove?) async throws(StoreError)
}

/// Where there is no place for one: no session was ever moved.
package struct NoUnfinishedMove: UnfinishedMoveKeeper {
    package init() {}

    package func load() -> UnfinishedMove? { nil }
    package func keep(_ move: UnfinishedMove?) {}
}
