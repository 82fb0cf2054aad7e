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

        package init(_ record: SessionRecord) {
            self.init(session: record.session, signIn: record.signIn, number: record.version.number)
        }

        /// Nobody has signed in to it, renewed it or changed it since.
        package func isStill(_ record: SessionRecord) -> Bool {
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
}
