package import AuthModel
import AuthSealedFile
package import AuthWire

/// Sessions, and clients that providers have registered: sealed records, one for each key of etcd.
extension EtcdStore: SessionStore, KeyStore {
    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await reporting { () throws(StoreError) in
            // If this host's key is sealed, the store is not open, whether or not etcd responds or has sessions.
            if member == nil { _ = try await hostContent() }
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
            let former = view.state
            guard let entry = try await read(places.session(session)) else {
                try await confirmAbsence(of: session, since: former)
                return nil
            }
            return try await record(in: entry, of: session)
        }
    }

    /// The record that the watch has reported last. No request is needed, except for the remaining lifetime of its
    /// token.
    package func loadReported(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        guard let report = reported.next(session) else { return try await load(session) }
        do throws(StoreError) {
            return try await record(in: report.record, of: session, lifetime: report.lifetime)
        } catch {
            throw failure(error)
        }
    }

    /// If etcd went back, what is missing counts as signed out or as lost only after everything was read again.
    /// - Parameter former: the state when it was requested.
    private func confirmAbsence(of session: SessionName, since former: ClusterView.State) async throws(StoreError) {
        // Only after that: whoever notices a restore writes the mark before anything else.
        if !hasGoneBack(since: former) { saw(mark: try await readMarked().mark) }
        guard hasGoneBack(since: former) else { return view.wasAbsent(session, since: former) }
        reportOnceReadAgain(session)
        throw .cluster(.wentBack)
    }

    /// A call has failed because etcd went back: the session is to be read or written when everything was read again.
    private func reportOnceReadAgain(_ session: SessionName) {
        if mustReadAgain { restores.postpone(session) } else { tellChange.yield(session) }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        _ = try await write(record, mayCreate: true, mayHaveEnded: true, isAllowed: { _ in true })
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        // If another host has removed what was seen here, it has signed out.
        let isNew = view.signIn(of: record.session) != record.signIn
        // The record's dates are of the clock as it is now.
        let start = clock.now().wall
        do throws(StoreError) {
            return try await write(
                record, mayCreate: replacesOther || isNew || view.lost.contains(record.session),
                // The generation of a record shows which tokens it has. So another result of renewing the same tokens
                // is written only with a higher generation.
                isAllowed: {
                    record.mayReplace($0, replacesOther: replacesOther) && !record.isOtherResult(than: $0)
                        && !record.isOutlived(by: $0, at: start)
                })
        } catch {
            // The session may be new, and missing in all that is read.
            if error == .cluster(.wentBack) { reportOnceReadAgain(record.session) }
            throw error
        }
    }

    /// A sign-in that this host has not seen stays: another host has signed in since.
    package func delete(_ session: SessionName) async throws(StoreError) {
        _ = try await remove(session, of: view.signIn(of: session))
    }

    package func delete(_ session: SessionName, of signIn: SignInID) async throws(StoreError) -> SessionRecord? {
        try await remove(session, of: signIn)
    }

    /// - Parameter signIn: `nil`: whatever is there.
    private func remove(_ session: SessionName, of signIn: SignInID?) async throws(StoreError) -> SessionRecord? {
        try await reporting(writes: true) { () throws(StoreError) in
            // Until everything was read, it is unknown whether the record is of this sign-in, or of another one that a
            // backup has brought back.
            try await onceReadAgain { () throws(StoreError) in try await removeStored(session, of: signIn) }
        }
    }

    private func removeStored(_ session: SessionName, of signIn: SignInID?) async throws(StoreError) -> SessionRecord? {
        let place = places.session(session)
        var found = try await read(place)
        var lease: Int64?
        for _ in 1...EtcdLimits.writeAttempts {
            guard let entry = found else {
                removed(session)
                return nil
            }
            // A damaged record is removed, too.
            let stored = try await unlessDamaged { () throws(StoreError) in
                try await record(in: entry, of: session)
            }
            if let signIn, let stored, stored.signIn != signIn {
                removed(session)
                // Only what this host has seen before has ended.
                view.saw(stored.signIn, of: session)
                tellChange.yield(session)
                return nil
            }
            let outcome = try await signOut(of: session, in: entry, leaving: &lease)
            if outcome.succeeded {
                removed(session, at: outcome.header.revision)
                return stored
            }
            found = outcome.entries[place]
        }
        throw .cluster(.contended)
    }

    private func removed(_ session: SessionName, at revision: Int64? = nil) {
        // A host that has not noticed a restore yet may write what the backup lacks.
        view.removed(session, at: revision, isRepeated: removesEnded)
        forget(session)
    }

    /// A restored backup lacks what was written after it was made.
    package func hasLost(_ session: SessionName) async throws(StoreError) -> Bool { view.lost.contains(session) }

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        guard case .client = purpose else { return try await local.key(for: purpose) }
        return try await reporting { () throws(StoreError) in
            _ = try await opened()
            guard let entry = try await read(places.key(purpose)) else { return nil }
            // The next sign-in replaces a damaged registration with a new one. A new key of the outbox would lose writes.
            guard case .client = purpose else { return try await content(of: entry) }
            return try await unlessDamaged { () throws(StoreError) in try await content(of: entry) }
        }
    }

    package func damage(ofKeyFor purpose: KeyPurpose) async throws(StoreError) -> String? {
        guard case .client = purpose else { return nil }
        return try await reporting { () throws(StoreError) in
            _ = try await opened()
            guard let entry = try await read(places.key(purpose)) else { return nil }
            do throws(StoreError) {
                _ = try await content(of: entry)
                return nil
            } catch {
                guard case .failed(let reason) = error, isDamage(error) else { throw error }
                return reason
            }
        }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        guard case .client = purpose else { return try await local.save(key, for: purpose) }
        try await reporting(writes: true) { () throws(StoreError) in
            _ = try await write({ key }, label: purpose.name, to: places.key(purpose)) { (_) throws(StoreError) in
                WriteTerms()
            }
        }
    }

    // MARK: Reading

    /// `nil` if it does not exist. A session with an earlier last change than before shows that etcd went back.
    func read(_ place: String) async throws(StoreError) -> EtcdEntry? {
        // The watch may report later changes meanwhile.
        let known = view
        let answer = try await call(.range(place))
        let range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
        guard let entry = range.entries.first(where: { $0.key == place }) else { return nil }
        if let session = places.sessionName(of: place), known.isLater(than: [session: entry.modRevision]) {
            readAgain()
        }
        return entry
    }

    /// All entries whose keys begin with `start`.
    func read(below start: String) async throws(StoreError) -> [EtcdEntry] {
        var entries: [EtcdEntry] = []
        var from = start
        var limit = EtcdLimits.rangeEntries
        var bytes = 0
        while true {
            let range: EtcdRange
            do throws(StoreError) {
                let answer = try await call(.range(from, end: EtcdPlaces.end(of: start), atMost: limit))
                range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
            } catch {
                guard error == .cluster(.longResponse), limit > 1 else { throw error }
                limit /= 2
                continue
            }
            entries += range.entries
            guard entries.count <= EtcdLimits.sessions else {
                throw .cluster(.invalid(reason: "more than \(EtcdLimits.sessions) sessions"))
            }
            bytes += range.entries.reduce(0) { $0 + $1.value.count }
            guard bytes <= EtcdLimits.readBytes else {
                throw .cluster(.invalid(reason: "more than \(EtcdLimits.readBytes >> 20) MiB below \(start)"))
            }
            guard range.isPartial, let last = range.entries.last, last.key >= from else { return entries }
            from = last.key + "\0"
        }
    }

    func record(
        in entry: EtcdEntry, of session: SessionName, lifetime: LifetimeLease = .unread
    ) async throws(StoreError) -> SessionRecord? {
        let (content, isLate) = try await unsealed(entry)
        // A backup may have brought back what this host knows to have ended.
        guard !hasGoneBack(since: view.state) else {
            restores.postpone(session)
            throw .cluster(.wentBack)
        }
        let header = try? SealedBytes.header(of: entry.value)
        let (generation, key) = (header?.generation ?? 0, SealedBytes.hex(header?.keyID ?? []))
        // Somebody put an older record back. It is reported; the session replaces it if it has a newer one.
        if !isLate, !view.accepts(session, generation: generation) { note(.wentBack) }
        let read: SessionRecord
        let json = try? JSON(parsing: content.revealBytes())
        do throws(DamagedRecord) {
            let record = try SessionRecord(decoding: content)
            guard record.session == session else { throw DamagedRecord(reason: "it is the record of another session") }
            if isLate {
                guard isReplaceable(entry, record.signIn) else { throw DamagedRecord(reason: Self.lateSeal) }
                view.lose(session)
                return nil
            }
            // A backup has brought it back. This host has the later sign-in, or knows that it was signed out of.
            guard !view.isOutdated(record.signIn, of: session) else {
                view.lose(session)
                return nil
            }
            // It was read before it was removed, and arrives later.
            guard !view.isEnded(record.signIn, of: session, at: entry.modRevision) else { return nil }
            view.saw(FormerSignIns(of: record, json), of: session)
            view.found(session, at: entry.modRevision, key: key)
            reported.used(session, at: entry.modRevision)
            read = record
        } catch {
            throw damage(of: entry, error.reason)
        }
        return try await localized(read, json, lifetime)
    }

    /// - Throws: ``StoreError/failed(reason:)`` if this record is damaged.
    func content(of entry: EtcdEntry) async throws(StoreError) -> Secret {
        let (content, isLate) = try await unsealed(entry)
        guard !isLate else { throw damage(of: entry, Self.lateSeal) }
        return content
    }

    /// The content of an entry, and whether it was sealed with a former key after that was replaced. Such an entry
    /// counts as damaged: only a host that was removed writes it.
    /// - Throws: ``StoreError/failed(reason:)`` if this record is damaged.
    func unsealed(_ entry: EtcdEntry) async throws(StoreError) -> (content: Secret, isLate: Bool) {
        let member = try await opened()
        do throws(SealedBytes.Refusal) {
            let found = try unsealed(entry, with: member)
            if !found.isLate { return found }
        } catch {
            guard case .otherKey = error else { throw damage(of: entry, error.reason) }
        }
        // Another host has made a new key since, or etcd went back.
        let present = try await reopened(instead: member)
        do throws(SealedBytes.Refusal) {
            return try unsealed(entry, with: present)
        } catch {
            throw damage(of: entry, error.reason)
        }
    }

    private static let lateSeal = "it was written with a former key after that was replaced"

    /// What was written with a former key before that was replaced, as in a backup, is read, and sealed again later.
    private func unsealed(
        _ entry: EtcdEntry, with member: Member
    ) throws(SealedBytes.Refusal) -> (content: Secret, isLate: Bool) {
        let opened = try SealedBytes.open(entry.value, name: entry.key, keys: member.accepted.keys)
        let (roster, key) = (member.accepted.roster, SealedBytes.hex(opened.header.keyID))
        guard key != roster.keyIDs.first else { return (opened.content, false) }
        let last = min(roster.lastUse(of: key) ?? member.revision, member.revision)
        guard entry.modRevision <= last, !isOlderThanOwn(entry, sealedWith: key, in: member) else {
            return (opened.content, true)
        }
        // Others are sealed again by the change of the key.
        // The list of a sign-out stays as it is.
        if !roster.keyIDs.contains(key), !entry.key.hasPrefix(places.signOuts) { hasFormerSeals = true }
        return (opened.content, false)
    }

    /// After a restore, the revision at which a key was given up is one of the former history: a host that was removed may
    /// have written the record before the list of hosts was put back. What this host has was sealed with a later key, so it is
    /// newer than anything that a member has sealed with the former key.
    private func isOlderThanOwn(_ entry: EtcdEntry, sealedWith key: String, in member: Member) -> Bool {
        guard restores.noticedAt != nil, entry.modRevision < member.revision,
            let session = places.sessionName(of: entry.key)
        else { return false }
        let present = member.accepted.roster.keyIDs
        return !present.contains(key) && view.hasCopy(session, sealedWith: present)
    }

    /// Whether hosts that have this session write it again over a record that counts as damaged because of its key. A
    /// restored backup may have an earlier list of hosts. Until that is replaced, a host that was removed can write. No
    /// host uses such a record any more. If a member has written it, that member has it in memory, and replaces what
    /// is older. A sign-in that this host does not know may be a new one of such a member, so that one stays.
    private func isReplaceable(_ entry: EtcdEntry, _ signIn: SignInID) -> Bool {
        guard restores.noticedAt != nil, let member, entry.modRevision < member.revision,
            let session = places.sessionName(of: entry.key)
        else { return false }
        return view.signIn(of: session) == signIn || view.isOutdated(signIn, of: session)
    }
}
