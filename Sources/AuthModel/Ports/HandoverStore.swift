package import AuthWire

/// Takes sessions from one run of the agent to the next one, past the store: in memory that outlives the process.
package protocol HandoverStore: Sendable {
    /// What the run before handed over of a store of that kind; empty where there is nothing that can be believed.
    func load(of kind: StoreKind) -> [HandedOverSession]

    /// Replaces all that the next run is to have; what was kept before is wiped. It must not wait.
    func save(_ sessions: [HandedOverSession], of kind: StoreKind)
}

/// One session as it is handed to the next run.
package struct HandedOverSession: Sendable, Equatable {
    package var record: SessionRecord
    /// The store has held this sign-in: if it is not there any more, somebody has removed it.
    package var isStored: Bool
    /// A write of this sign-in has begun, and its result was not known yet: the store may hold it.
    package var mayBeStored: Bool
    /// The store has refused the newest of it.
    package var isUnsaved: Bool

    package init(record: SessionRecord, isStored: Bool, mayBeStored: Bool = false, isUnsaved: Bool) {
        self.record = record
        self.isStored = isStored
        self.mayBeStored = mayBeStored
        self.isUnsaved = isUnsaved
    }
}
