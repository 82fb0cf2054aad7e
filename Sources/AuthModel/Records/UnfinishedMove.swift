package import AuthWire

/// The copies that a move of sessions still has to remove: from the new store, or from the old one once everything was copied.
///
/// Invariant: it is saved before the first copy is written, and each phase before its first effect.
package struct UnfinishedMove: Sendable, Equatable {
    package enum Phase: String, Sendable {
        /// The new store may have these copies.
        case copying
        /// All were read back from the new store. The next start may look in either.
        case copied
        /// The next start looks in the new store, and some copies may be gone from the old one.
        case removing
    }

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

        package init(_ record: SessionRecord) {
            self.init(session: record.session, signIn: record.signIn, number: record.version.number)
        }

        /// Whether it was not renewed or changed since, nor replaced by another sign-in.
        package func isStill(_ record: SessionRecord) -> Bool {
            record.signIn == signIn && record.version.number <= number
        }
    }

    package var from: StoreKind
    package var to: StoreKind
    package var phase: Phase
    package var copies: [Copy]

    package init(from: StoreKind, to: StoreKind, phase: Phase, copies: [Copy]) {
        self.from = from
        self.to = to
        self.phase = phase
        self.copies = copies
    }

    /// The store that the copies are in while the sessions are in `present`; `nil`: unknown.
    package func place(whileIn present: StoreKind) -> StoreKind? {
        switch phase {
        case .copying: present == to ? nil : to
        case .copied: present == from ? to : present == to ? from : nil
        case .removing: present == from ? nil : from
        }
    }

    /// The phase that follows from the store that a start has found the sessions in.
    package func phase(afterStartIn present: StoreKind) -> Phase {
        guard phase == .copied else { return phase }
        return present == from ? .copying : present == to ? .removing : .copied
    }

    /// Whether it is about the same two stores.
    package func isOfSameStores(as other: UnfinishedMove) -> Bool { from == other.from && to == other.to }
}
