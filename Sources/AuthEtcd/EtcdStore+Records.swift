package import AuthModel
import AuthSealedFile
package import AuthWire

/// Sessions, and clients that providers have registered: sealed records, one for each key of etcd.
extension EtcdStore: SessionStore, KeyStore {
    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await reporting { () throws(StoreError) in
            var all: [StoredSession] = []
            for entry in try await read(below: places.sessions) {
                guard let session = places.sessionName(of: entry.key) else { continue }
                do throws(StoreError) {
                    if let record = try await record(in: entry, of: session) { all.append(.record(record)) }
                } catch {
                    guard case .failed(let reason) = error else { throw error }
                    all.append(.damaged(session: session.text, reason: reason))
                }
            }
            return all
        }
    }

    /// Readable without a key; includes damaged records.
    package func names() async throws(StoreError) -> [StoredName] {
        try await read(below: places.sessions).compactMap { entry in
            places.sessionName(of: entry.key).map {
                StoredName(session: $0, provider: (try? SealedBytes.header(of: entry.value))?.label ?? "")
            }
        }.sorted { $0.session < $1.session }
    }

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await reporting { () throws(StoreError) in
            _ = try await opened()
            guard let entry = try await read(places.session(session)) else { return nil }
            return try await record(in: entry, of: session)
        }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        _ = try await write(record, mayCreate: true, isAllowed: { _ in true })
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> SessionRecord? {
        // If another host has removed what was seen here, it has signed out.
        let isNew = view.signIn(of: record.session) != record.signIn
        return try await write(
            record, mayCreate: replacesOther || isNew || view.lost.contains(record.session),
            isAllowed: { record.mayReplace($0, replacesOther: replacesOther) })
    }

    /// A sign-in that this host has not seen stays: another host has signed in since.
    package func delete(_ session: SessionName) async throws(StoreError) {
        try await reporting(writes: true) { () throws(StoreError) in
            let place = places.session(session)
            var found = try await read(place)
            for _ in 1...EtcdLimits.writeAttempts {
                guard let entry = found else { return removed(session) }
                if let known = view.signIn(of: session), let stored = try? await record(in: entry, of: session),
                    stored.signIn != known
                {
                    removed(session)
                    tellChange.yield(session)
                    return
                }
                let answer = try await call(
                    .transaction(
                        [.changed(key: place, at: entry.modRevision)],
                        then: [.delete(place), .delete(places.life(session))], otherwiseReading: [place]))
                let outcome = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
                if outcome.succeeded { return removed(session) }
                found = outcome.entries[place]
            }
            throw .cluster(.contended)
        }
    }

    private func removed(_ session: SessionName) {
        view.removed(session)
        forget(session)
    }

    /// A restored backup lacks what was written after it was made.
    package func hasLost(_ session: SessionName) async throws(StoreError) -> Bool { view.lost.contains(session) }

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        guard case .client = purpose else { return try await local.key(for: purpose) }
        return try await reporting { () throws(StoreError) in
            _ = try await opened()
            guard let entry = try await read(places.key(purpose)) else { return nil }
            return try await content(of: entry)
        }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        guard case .client = purpose else { return try await local.save(key, for: purpose) }
        try await reporting(writes: true) { () throws(StoreError) in
            _ = try await write(key, label: purpose.name, to: places.key(purpose)) { (_, _) in HoldTerms() }
        }
    }

    // MARK: Writing

    /// - Parameters:
    ///   - mayCreate: whether it is written if there is none.
    ///   - isAllowed: whether the stored record may be replaced.
    /// - Returns: the stored record if it was not replaced.
    private func write(
        _ record: SessionRecord, mayCreate: Bool, isAllowed: @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SessionRecord? {
        let session = record.session
        return try await reporting(writes: true) { () throws(StoreError) in
            var obstacle: SessionRecord?
            var lost: Hold?
            let deadline = SuspendingClock.now + EtcdLimits.holderWait
            let life = try await lifetimes.knows(record) ? nil : grantLife(of: record)
            let written = try await write(
                content(of: record), label: record.provider, to: places.session(session), mayCreate: mayCreate,
                life: life.map { (places.life(session), $0) },
                reading: [places.holder(session)]
            ) { (content, isAgain) in
                // A damaged record is replaced.
                guard let stored = content.flatMap(justWritten) else { return HoldTerms() }
                // An earlier attempt was carried out although its response was lost.
                if isAgain, stored == record { return nil }
                if isOvertaken(lost ?? holds[session], stored.version) {
                    lostHold(of: session)
                    overtaken.insert(session)
                    obstacle = stored
                    return nil
                }
                guard isAllowed(stored) else {
                    obstacle = stored
                    return nil
                }
                return holdTerms(record, replacing: stored.version)
            } refused: { (outcome) throws(StoreError) in
                let holder = outcome.entries[places.holder(session)]
                if let hold = holds[session], holder?.lease != hold.lease.number {
                    lost = hold
                    lostHold(of: session)
                } else if holder != nil, holds[session] == nil {
                    guard SuspendingClock.now < deadline else { throw .cluster(.heldElsewhere) }
                    try? await pause(EtcdLimits.holderPause)
                }
            }
            if let written {
                view.wrote(session, record.signIn, at: written.revision, generation: written.generation)
                lifetimes.wrote(record)
                if written.hasReleased { holds[session] = nil }
            } else if obstacle == nil, try await read(places.session(session)) == nil {
                tellChange.yield(session)
                throw .cluster(.removed)
            }
            return obstacle
        }
    }

    /// Writes a record if it is still as it was read.
    ///
    /// - Parameters:
    ///   - mayCreate: whether it is written if there is none.
    ///   - life: a key that is put on a lease in the same transaction.
    ///   - keys: what is read, too, if the write is refused.
    ///   - terms: gets the content that is there (`nil`: none, or a damaged one), and whether this is not the first attempt.
    ///     Returns what the write requires; `nil`: it is not allowed.
    ///   - refused: called after each attempt that was refused.
    /// - Returns: `nil` if it was not allowed.
    private func write(
        _ content: Secret, label: String, to place: String, mayCreate: Bool = true,
        life: (key: String, lease: Int64)? = nil, reading keys: [String] = [],
        terms: (_ stored: Secret?, _ isAgain: Bool) -> HoldTerms?,
        refused: (EtcdTransaction) async throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) async throws(StoreError) -> (revision: Int64, generation: UInt64, hasReleased: Bool)? {
        var member = try await opened()
        var found = try await read(place)
        for attempt in 1...EtcdLimits.writeAttempts {
            guard mayCreate || found != nil else { return nil }
            var generation = places.sessionName(of: place).map(view.generation) ?? 0
            var stored: Secret?
            if let found {
                generation = max(generation, (try? SealedBytes.header(of: found.value))?.generation ?? 0)
                do throws(StoreError) {
                    stored = try await self.content(of: found)
                    member = try await opened()
                } catch {
                    // It is damaged: a write replaces it.
                    guard case .failed = error else { throw error }
                }
            }
            guard let terms = terms(stored, attempt > 1) else { return nil }
            guard let key = member.accepted.currentKeys.first else {
                throw .cluster(.invalid(reason: "the cluster has no key"))
            }
            generation += 1
            let sealed = try SealedBytes.seal(content, name: place, label: label, generation: generation, key: key)
            try checkSize(sealed)
            let conditions: [EtcdRequest.Condition] = [
                .changed(key: place, at: found?.modRevision ?? 0), .changed(key: places.cluster, at: member.revision),
            ]
            let answer: JSON
            do throws(StoreError) {
                var operations: [EtcdRequest.Operation] = [.put(sealed, to: place)]
                operations += terms.removing.map { .delete($0) }
                if let life { operations.append(.put([], to: life.key, lease: life.lease)) }
                answer = try await call(
                    .transaction(
                        conditions + terms.conditions, then: operations,
                        otherwiseReading: [place, places.cluster] + keys))
            } catch {
                guard case .cluster(.tooLarge) = error else { throw error }
                throw .cluster(.tooLarge(bytes: sealed.count, limit: 0))
            }
            let outcome = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
            if outcome.succeeded { return (outcome.header.revision, generation, !terms.removing.isEmpty) }
            found = outcome.entries[place]
            if outcome.entries[places.cluster]?.modRevision != member.revision {
                member = try await reopened(instead: member)
            }
            try await refused(outcome)
        }
        throw .cluster(.contended)
    }

    /// - Throws: if etcd does not accept that many bytes in one request.
    func checkSize(_ bytes: [UInt8]) throws(StoreError) {
        let size = bytes.count + EtcdLimits.overheadBytes
        guard size <= EtcdLimits.requestBytes else {
            throw .cluster(.tooLarge(bytes: size, limit: EtcdLimits.requestBytes))
        }
    }

    /// Seals every record with the newest key that is not yet.
    func sealAgain(with member: Member) async throws(StoreError) {
        guard let newest = member.accepted.currentKeys.first else { return }
        for place in [places.sessions, places.keys] {
            for entry in try await read(below: place) {
                guard let header = try? SealedBytes.header(of: entry.value), header.keyID != newest.id,
                    let content = try? await content(of: entry)
                else { continue }
                // What another host has written since is sealed with the newest key, and what it has deleted stays so.
                _ = try await write(content, label: header.label, to: entry.key, mayCreate: false) { (stored, _) in
                    stored == content ? HoldTerms() : nil
                }
            }
        }
    }

    // MARK: Reading

    /// `nil` if it does not exist.
    func read(_ place: String) async throws(StoreError) -> EtcdEntry? {
        let answer = try await call(.range(place))
        let range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
        return range.entries.first { $0.key == place }
    }

    /// All entries whose keys begin with `start`.
    func read(below start: String) async throws(StoreError) -> [EtcdEntry] {
        try await pages(below: start, keysOnly: false).entries
    }

    /// - Returns: the state of etcd at the first page, too.
    func pages(below start: String, keysOnly: Bool) async throws(StoreError) -> (
        header: EtcdHeader, entries: [EtcdEntry]
    ) {
        var entries: [EtcdEntry] = []
        var header: EtcdHeader?
        var from = start
        var limit = keysOnly ? EtcdLimits.sessions : EtcdLimits.rangeEntries
        while true {
            let range: EtcdRange
            do throws(StoreError) {
                let answer = try await call(
                    .range(from, end: EtcdPlaces.end(of: start), atMost: limit, keysOnly: keysOnly))
                range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
            } catch {
                guard error == .cluster(.longResponse), limit > 1 else { throw error }
                limit /= 2
                continue
            }
            if header == nil { header = range.header }
            entries += range.entries
            guard entries.count <= EtcdLimits.sessions else {
                throw .cluster(.invalid(reason: "more than \(EtcdLimits.sessions) sessions"))
            }
            guard range.isPartial, let last = range.entries.last, last.key >= from else {
                return (header ?? range.header, entries)
            }
            from = last.key + "\0"
        }
    }

    func record(in entry: EtcdEntry, of session: SessionName) async throws(StoreError) -> SessionRecord? {
        let content = try await content(of: entry)
        let generation = (try? SealedBytes.header(of: entry.value))?.generation ?? 0
        // Somebody put an older record back. It is reported; the session replaces it if it has a newer one.
        if !view.accepts(session, generation: generation) { note(.wentBack) }
        let read: SessionRecord
        do throws(DamagedRecord) {
            let record = try SessionRecord(decoding: content)
            guard record.session == session else { throw DamagedRecord(reason: "it is the record of another session") }
            view.saw(record.signIn, of: session)
            read = record
        } catch {
            throw .failed(reason: "\(entry.key): \(error.reason)")
        }
        return try await localized(read, content, in: entry)
    }

    /// - Throws: ``StoreError/failed(reason:)`` if this record is damaged.
    private func content(of entry: EtcdEntry) async throws(StoreError) -> Secret {
        let member = try await opened()
        do throws(SealedBytes.Refusal) {
            return try SealedBytes.open(entry.value, name: entry.key, keys: member.accepted.keys).content
        } catch {
            guard case .otherKey = error else { throw .failed(reason: "\(entry.key): \(error.reason)") }
        }
        // Another host has made a new key since.
        let keys = try await reopened(instead: member).accepted.keys
        do throws(SealedBytes.Refusal) {
            return try SealedBytes.open(entry.value, name: entry.key, keys: keys).content
        } catch {
            throw .failed(reason: "\(entry.key): \(error.reason)")
        }
    }
}
