package import AuthWire

/// Passes sessions from one run of the agent to the next in memory that outlives the process.
package protocol HandoverStore: Sendable {
    /// What the previous run saved from a store of that kind; empty if it is missing or damaged.
    func load(of kind: StoreKind) -> Handover

    /// Replaces and wipes what was saved before. It must not wait.
    func save(_ handover: Handover, of kind: StoreKind)

    /// Whether the next run would get the last save. Otherwise it gets nothing, until the store can pass the save on.
    var hasNewest: Bool { get }
}

/// What one run of the agent leaves for the next.
package struct Handover: Sendable, Equatable {
    package var sessions: [HandedOverSession]
    /// Sessions are missing, and one of them may be the default one: only the store has them all.
    package var isPartial: Bool

    package init(_ sessions: [HandedOverSession] = [], isPartial: Bool = false) {
        self.sessions = sessions
        self.isPartial = isPartial
    }
}

package struct HandedOverSession: Sendable, Equatable {
    @Shared package var record: SessionRecord
    /// The store has had this sign-in: if it is missing now, a user or program has removed it.
    package var isStored: Bool
    /// A write of this sign-in has begun without a known result: the store may have it.
    package var mayBeStored: Bool
    /// The store refused the latest version.
    package var isUnsaved: Bool

    package init(record: SessionRecord, isStored: Bool, mayBeStored: Bool = false, isUnsaved: Bool) {
        self.init(Shared(wrappedValue: record), isStored: isStored, mayBeStored: mayBeStored, isUnsaved: isUnsaved)
    }

    package init(_ record: Shared<SessionRecord>, isStored: Bool, mayBeStored: Bool, isUnsaved: Bool) {
        _record = record
        self.isStored = isStored
        self.mayBeStored = mayBeStored
        self.isUnsaved = isUnsaved
    }
}
