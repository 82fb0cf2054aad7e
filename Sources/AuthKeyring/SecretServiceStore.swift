import AuthConcurrency
package import AuthModel
package import AuthWire
package import GLibRuntime

/// Sessions in the user's keyring (Secret Service API), one item each, in the default collection.
///
/// Invariants: everything runs on the GLib thread. No call waits for the user: if the keyring is locked, it fails at once with
/// ``StoreError/locked`` and the user is asked once; `states()` reports when it is open. No call waits longer than `limit`
/// for a reply of the service. Only `delete` and a `save` of the same session remove anything.
package actor SecretServiceStore: SessionStore {
    /// Far above what a busy keyring needs (milliseconds, or some seconds to write a file of megabytes), and as long as a
    /// request may reasonably wait.
    package static let answerLimit = Duration.seconds(5)

    /// Changes that wait for the listener. If one is dropped, that session's item is read later.
    private static let maxChanges = 4096

    nonisolated let thread: GLibThread
    private nonisolated let broadcast: StateBroadcast<StoreState>
    let link: KeyringLink
    private let turns = WriteTurns()
    private nonisolated let changed: AsyncStream<SessionName>
    let tellChange: AsyncStream<SessionName>.Continuation
    /// The session of an item path, for items that were seen or written here.
    var sessions: [String: SessionName] = [:]
    /// The collection in which a session's item was last seen or written.
    var collections: [SessionName: String] = [:]
    /// Written after its caller had stopped waiting for the user.
    private var writtenLate: (session: SessionName, version: RecordVersion)?
    /// Writes of this run: they show what a service lost that ended too early.
    var writes: [SessionName: KeyringWrite] = [:]
    let limit: Duration
    private let providerTitle: @Sendable (String) -> String?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    package nonisolated var kind: StoreKind { .secretService }

    /// - Parameters:
    ///   - address: of the message bus, see ``SessionBus``; with `nil` every call fails with ``StoreError/missing``.
    ///   - limit: for each reply of the service.
    ///   - providerTitle: for the label of an item.
    package init(
        on thread: GLibThread, address: String?, limit: Duration = SecretServiceStore.answerLimit,
        providerTitle: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.thread = thread
        self.limit = limit
        self.providerTitle = providerTitle
        let link = KeyringLink(address: address, limit: limit, on: thread)
        broadcast = link.states
        self.link = link
        (changed, tellChange) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.maxChanges))
        thread.perform { self.assumeIsolated { $0.begin() } }
    }

    package nonisolated func states() -> AsyncStream<StoreState> { broadcast.states() }

    /// For one listener.
    package nonisolated func changes() -> AsyncStream<SessionName> { changed }

    /// The next call that finds it locked asks the user, even after a dismissed prompt.
    package func retryPrompts() {
        link.forgetDismissal()
        link.allowStart()
    }

    /// Attributes of locked items are readable too (Secret Service API draft 0.2, "Lookup Attributes").
    package func names() async throws(StoreError) -> [StoredName] {
        let paths = try await attempt { store, keyring, deadline throws(StoreError) in
            let found: SecretServiceProxy.Found
            do throws(GLibFailure) {
                let limit = SuspendingClock.now.duration(to: deadline)
                found = try await store.thread.call(keyring.searching(SessionItem.everyOne), limit: limit)
            } catch {
                // Some services ignore this call while they are locked, but answer others: this is not their state.
                if case .timedOut = error { throw .notAnswering(after: store.limit) }
                throw StoreError(error)
            }
            return found.unlocked + found.locked
        }
        var names: [SessionName: StoredName] = [:]
        for path in paths {
            if let attributes = await attributes(of: path), let name = SessionItem.name(in: attributes) {
                names[name.session] = name
            }
        }
        return names.values.sorted { $0.session < $1.session }
    }

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        let values = try await attempt { store, keyring, deadline throws(StoreError) in
            try await store.values(SessionItem.everyOne, keyring, deadline)
        }
        var newest: [SessionName: SessionRecord] = [:]
        var damaged: [StoredSession] = []
        for (path, value) in values.sorted(by: { $0.key < $1.key }) {
            do throws(DamagedRecord) {
                let record = try SessionRecord(decoding: value)
                note(record.session, at: path)
                if let other = newest[record.session], other.version.number >= record.version.number { continue }
                newest[record.session] = record
            } catch {
                damaged.append(.damaged(session: await attributes(of: path)?["session"] ?? path, reason: error.reason))
            }
        }
        return newest.values.sorted { $0.session < $1.session }.map(StoredSession.record) + damaged
    }

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await load(session, quietly: false)
    }

    /// Without a question to the user: a lock is reported as a change, too, by some services.
    package func loadReported(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await load(session, quietly: true)
    }

    private func load(_ session: SessionName, quietly: Bool) async throws(StoreError) -> SessionRecord? {
        let values = try await attempt { store, keyring, deadline throws(StoreError) in
            try await store.values(SessionItem.attributes(finding: session), keyring, deadline, quietly: quietly)
        }
        return try newest(values, of: session)
    }

    private func newest(_ values: [String: Secret], of session: SessionName) throws(StoreError) -> SessionRecord? {
        var newest: SessionRecord?
        var damage: String?
        for (path, value) in values {
            note(session, at: path)
            do throws(DamagedRecord) {
                let record = try SessionRecord(decoding: value)
                guard record.session == session else {
                    throw DamagedRecord(reason: "it is the record of session '\(record.session)'")
                }
                if newest.map({ $0.version.number < record.version.number }) ?? true { newest = record }
            } catch {
                damage = error.reason
            }
        }
        if newest == nil, let damage {
            throw .failed(reason: "the keyring's item of session '\(session)' cannot be read: \(damage)")
        }
        recordPresence(of: session, isThere: newest != nil)
        return newest
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        try await inTurn { store, keyring, deadline throws(StoreError) in
            let before = try await store.find(SessionItem.attributes(finding: record.session), keyring, deadline)
            try await store.write(record, replacing: before, keyring, deadline)
        }
    }

    /// No other write of this agent comes between the comparison and the write. One of another program can.
    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        try await inTurn { store, keyring, deadline throws(StoreError) in
            let attributes = SessionItem.attributes(finding: record.session)
            var before: [String]
            do throws(StoreError) {
                let values = try await store.values(attributes, keyring, deadline)
                before = Array(values.keys)
                let stored = try store.newest(values, of: record.session)
                if let stored, !record.mayReplace(stored, replacesOther: replacesOther) { return .refused(by: stored) }
            } catch {
                // One item may be unreadable: a write replaces it, and shows whether it is more.
                guard case .failed = error else { throw error }
                before = try await store.find(attributes, keyring, deadline)
            }
            try await store.write(record, replacing: before, keyring, deadline)
            return .written()
        }
    }

    /// - Parameter before: the items of the session, of which one has the new value afterwards.
    private func write(
        _ record: SessionRecord, replacing before: [String], _ keyring: SecretServiceProxy, _ deadline: Deadline
    ) async throws(StoreError) {
        if let late = writtenLate, late == (record.session, record.version) {
            writtenLate = nil
            return
        }
        let began = KeyringWrite.now
        let value = record.encoded()
        let collection = try await openCollection(deadline)
        let label = SessionItem.label(of: record, providerTitle: providerTitle(record.provider))
        let call = keyring.creating(
            in: collection, label: label, attributes: SessionItem.attributes(of: record), value: value)
        let path = try await write(call, deadline, lockedPath: collection) { path in
            self.note(record.session, at: path)
            self.writtenLate = (record.session, record.version)
            self.noteWrite(of: record.session, since: began)
        }
        noteWrite(of: record.session, since: began)
        guard let path else { return }
        note(record.session, at: path)
        try await prove(keyring, path, holds: value, deadline)
        // The session belonged to another provider before: its item has other attributes and was not replaced.
        for old in before where old != path { try await remove(old, keyring, deadline) }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        try await inTurn { store, keyring, deadline throws(StoreError) in
            // A write that the user has not allowed yet would put the item back.
            if store.link.writeObstacle == .waiting { throw .waiting }
            for path in try await store.find(SessionItem.attributes(finding: session), keyring, deadline) {
                try await store.remove(path, keyring, deadline)
            }
            store.writes[session] = nil
        }
    }
}

// MARK: Calls

extension SecretServiceStore {
    typealias Deadline = SuspendingClock.Instant
    typealias Work<Value> = (
        isolated SecretServiceStore, SecretServiceProxy, Deadline
    ) async throws(StoreError) -> Value

    private func begin() {
        link.itemChanged = { [weak self] path in
            self?.assumeIsolated { store in store.sessions[path].map { _ = store.tellChange.yield($0) } }
        }
        link.serviceReplaced = { [weak self] in self?.assumeIsolated { $0.findLostItems() } }
        thread.begin(link.connected(), limit: limit) { _ in }
    }

    /// Runs `work` when it is this caller's turn to write.
    func inTurn<Value>(_ work: Work<Value>) async throws(StoreError) -> Value {
        try refuseWhenSilent()
        do {
            try await thread.call(turns.turn(), limit: nil)
        } catch {
            throw StoreError(error)
        }
        defer { turns.done() }
        do {
            return try await attempt(work)
        } catch {
            if case .notAnswering(let after) = error { turns.refuseWaiting(.timedOut(after: after)) }
            throw error
        }
    }

    /// Runs `work` with an open session, and again with a new one if the first belonged to a service that is gone, or failed
    /// for a reason that a retry may fix. Running work twice has the same effect as once.
    func attempt<Value>(_ work: Work<Value>) async throws(StoreError) -> Value {
        do throws(StoreError) {
            let value = try await attemptTwice(work)
            link.recordSuccess()
            return value
        } catch {
            if case .failed = error, !Task.isCancelled { link.recordFailure() }
            throw error
        }
    }

    private func attemptTwice<Value>(_ work: Work<Value>) async throws(StoreError) -> Value {
        try refuseWhenSilent()
        let deadline = SuspendingClock.now + limit
        let keyring = try await open(deadline)
        do {
            return try await work(self, keyring, deadline)
        } catch {
            switch error {
            case .failed where !Task.isCancelled, .missing where !Task.isCancelled: link.drop(keyring)
            default: throw error
            }
        }
        return try await work(self, open(deadline), deadline)
    }

    private func refuseWhenSilent() throws(StoreError) {
        if link.isSilent { throw .notAnswering(after: limit) }
    }

    private func open(_ deadline: Deadline) async throws(StoreError) -> SecretServiceProxy {
        try await ask(link.connected(), deadline)
    }

    /// - Parameter lockedPath: what to unlock if the service reports that it is locked.
    func ask<Value>(
        _ call: GIOCall<Value>, _ deadline: Deadline, lockedPath: String? = nil, quietly: Bool = false
    ) async throws(StoreError) -> Value {
        do throws(GLibFailure) {
            return try await thread.call(call, limit: SuspendingClock.now.duration(to: deadline))
        } catch {
            if case .timedOut = error {
                link.didNotAnswer()
                throw .notAnswering(after: limit)
            }
            let meaning = StoreError(error)
            guard meaning == .locked, let lockedPath else { throw meaning }
            throw link.foundLocked([lockedPath], quietly: quietly)
        }
    }

    /// The default collection, open.
    func openCollection(_ deadline: Deadline, quietly: Bool = false) async throws(StoreError) -> String {
        guard let bus = link.connection else { throw .missing(reason: "the connection to the message bus was lost") }
        guard let path = try await ask(CollectionWatch.readingDefault(on: bus), deadline) else {
            throw .missing(reason: "the keyring service has no default keyring; create one, or log in to the desktop")
        }
        guard try await !ask(CollectionWatch.readingLocked(path, on: bus), deadline) else {
            throw link.foundLocked([path], quietly: quietly)
        }
        return path
    }

    /// The paths of open items. An empty result counts only if the collection is open: services differ in what they find in a
    /// locked one.
    func find(
        _ attributes: [String: String], _ keyring: SecretServiceProxy, _ deadline: Deadline, quietly: Bool = false
    ) async throws(StoreError) -> [String] {
        // Some services do not reply to a search, or find nothing, while they are locked.
        if link.states.current != .ready { _ = try await openCollection(deadline, quietly: quietly) }
        let found = try await search(attributes, keyring, deadline, quietly: quietly)
        guard found.isEmpty else { return found }
        _ = try await openCollection(deadline, quietly: quietly)
        // It may have been opened since the search.
        return try await search(attributes, keyring, deadline, quietly: quietly)
    }

    private func search(
        _ attributes: [String: String], _ keyring: SecretServiceProxy, _ deadline: Deadline, quietly: Bool
    ) async throws(StoreError) -> [String] {
        let found = try await ask(keyring.searching(attributes), deadline)
        guard !found.locked.isEmpty else { return found.unlocked }
        // Some services lock individual items.
        _ = try await openCollection(deadline, quietly: quietly)
        throw link.foundItemsLocked(found.locked, quietly: quietly)
    }

    func values(
        _ attributes: [String: String], _ keyring: SecretServiceProxy, _ deadline: Deadline, quietly: Bool = false
    ) async throws(StoreError) -> [String: Secret] {
        let paths = try await find(attributes, keyring, deadline, quietly: quietly)
        if paths.isEmpty { return [:] }
        let values = try await ask(keyring.reading(paths), deadline, lockedPath: paths.first, quietly: quietly)
        guard values.count < paths.count else { return values }
        // The reply omits items that were locked or removed since the search, and those whose value cannot be decrypted:
        // these exist.
        _ = try await openCollection(deadline, quietly: quietly)
        let missing = Set(paths).subtracting(values.keys)
        guard try await search(attributes, keyring, deadline, quietly: quietly).allSatisfy({ !missing.contains($0) })
        else {
            throw .failed(reason: "the keyring did not return the value of an item")
        }
        return values
    }

    /// A write, with the user's permission if the service requires that.
    ///
    /// - Parameter late: receives the path of an item that was written after the caller had stopped waiting.
    /// - Returns: the item's path, if there is one.
    func write(
        _ call: GIOCall<SecretServiceProxy.Written>, _ deadline: Deadline, lockedPath: String,
        late: @escaping (_ path: String) -> Void
    ) async throws(StoreError) -> String? {
        if let obstacle = link.writeObstacle { throw obstacle }
        let prompt: String
        switch try await ask(call, deadline, lockedPath: lockedPath) {
        case .done(let path): return path
        case .asks(let path): prompt = path
        }
        guard let asking = link.asking(prompt, written: late) else {
            throw .missing(reason: "the connection to the message bus was lost")
        }
        let answered: WritePrompts.Answer
        do throws(GLibFailure) {
            answered = try await thread.call(asking, limit: SuspendingClock.now.duration(to: deadline))
        } catch {
            if case .timedOut = error { throw link.userIsSlow() }
            throw StoreError(error)
        }
        switch answered {
        case .agreed(let path): return path
        case .dismissed: throw .denied(reason: "the user denied the keyring's request to write")
        }
    }

    private func remove(
        _ path: String, _ keyring: SecretServiceProxy, _ deadline: Deadline
    ) async throws(StoreError) {
        _ = try await write(keyring.deleting(path), deadline, lockedPath: path) { _ in }
        sessions[path] = nil
    }

    /// An item's attributes; `nil` if they are unreadable.
    private func attributes(of path: String) async -> [String: String]? {
        guard let bus = link.connection else { return nil }
        let call = SessionItem.readingAttributes(of: path, on: bus)
        return try? await ask(call, SuspendingClock.now + limit)
    }
}
