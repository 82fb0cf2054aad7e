package import AuthWire

/// What a move still has to remove from the former store. It is saved before the next start uses the new store, so that a kill
/// in between leaves no copies behind.
///
/// Invariant: each copy was read back from the new store before it is listed here.
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

        /// Whether it was not renewed or changed since, nor replaced by another sign-in.
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
