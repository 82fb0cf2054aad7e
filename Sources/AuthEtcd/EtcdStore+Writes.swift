import AuthConcurrency
import AuthModel
import AuthSealedFile
import AuthWire

/// Writes of sealed records, each a transaction with the conditions under which it may happen.
extension EtcdStore {
    /// What a write requires, besides that the record and the cluster are as they were read.
    struct WriteTerms: Sendable {
        var conditions: [EtcdRequest.Condition] = []
        /// Done in the same transaction.
        var operations: [EtcdRequest.Operation] = []
        /// The list of a sign-out must be as it was read. If it is not, the response to the refused write contains it.
        var list: (key: String, revision: Int64)?
        /// Whether it ends the hold of this host.
        var releases = false
    }

    /// - Parameters:
    ///   - mayCreate: whether it is written if there is none.
    ///   - mayHaveEnded: whether it is written even if the last sign-out was of its sign-in, as in an import.
    ///   - isAllowed: whether the stored record may be replaced.
    func write(
        _ record: SessionRecord, mayCreate: Bool, mayHaveEnded: Bool = false,
        isAllowed: @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> UpdateOutcome {
        let session = record.session
        return try await reporting(writes: true) { () throws(StoreError) in
            var obstacle: SessionRecord?
            var isThere = false
            // Granted once, however often the write is refused.
            var lifetime: Int64?
            var refusal: EtcdTransaction?
            // What the record in etcd shows, which this host may not have read before.
            var former: FormerSignIns?
            // The revision of the list that the last sign-out has left; 0: none was read. It is read if a write is
            // refused.
            var listRevision: Int64 = 0
            let deadline = now() + EtcdLimits.holderWait
            let reports = reportsForWrites[session] ?? StateBroadcast(0)
            reportsForWrites[session] = reports
            defer { if reportsForWrites[session] === reports { reportsForWrites[session] = nil } }
            // The record has dates of this clock, which may be set meanwhile.
            let start = clock.now()
            let written = try await write(
                { sharedContent(of: record, at: start, replacing: former) }, label: record.provider,
                to: places.session(session), mayCreate: mayCreate,
                reading: [places.holder(session), places.intent(session)], since: view.state
            ) { (content) throws(StoreError) in
                former = nil
                // A damaged record is replaced, and so is one of an earlier sign-in that a backup has brought back.
                guard let content, let found = try readable(content, of: session),
                    !view.isOutdated(found.signIn, of: session)
                else {
                    var terms = try await terms(for: record, replacing: nil, &lifetime, from: start, after: refusal)
                    terms.list = (places.signOut(session), listRevision)
                    return terms
                }
                isThere = true
                let json = try? JSON(parsing: content.revealBytes())
                let stored = try await localized(found, json, .unread)
                former = FormerSignIns(of: stored, json)
                // An earlier attempt was carried out although its response was lost.
                if stored == record { return nil }
                if isOvertaken(record, by: stored) {
                    endOvertakenHold(of: record)
                    obstacle = stored
                    return nil
                }
                guard isAllowed(stored) else {
                    obstacle = stored
                    return nil
                }
                return try await terms(for: record, replacing: stored, &lifetime, from: start, after: refusal)
            } refused: { (outcome) throws(StoreError) in
                refusal = outcome
                let list = outcome.entries[places.signOut(session)]
                listRevision = list?.modRevision ?? 0
                if let list, try await noteSignOut(list, before: record.signIn, of: session), !mayHaveEnded,
                    !view.lost.contains(session)
                {
                    throw .cluster(.removed)
                }
                // Another host may have removed it since it was read.
                isThere = false
                guard refused(session, outcome) else { return true }
                guard now() < deadline else { throw .cluster(.heldElsewhere) }
                await pause(untilReportIn: reports, after: outcome.header.revision)
                return false
            }
            let hadHold = holds[session] != nil
            if let obstacle {
                // If this fails, it is tried again later.
                if let end = unfinished[session] { try? await carryOut(end, of: session) }
                return overtaken.contains(session) ? .overtaken(by: obstacle) : .refused(by: obstacle)
            }
            guard written != nil || isThere else {
                tellChange.yield(session)
                throw .cluster(.removed)
            }
            if let former { view.saw(former, of: session) }
            if let written {
                view.wrote(session, at: written.revision, generation: written.generation, key: written.key)
                reported.used(session, at: written.revision)
            }
            view.saw(record.signIn, of: session)
            lifetimes.wrote(record, at: start)
            if written?.terms.releases ?? false { holds[session] = nil }
            // Its first attempt was carried out, and released it.
            if written == nil { writeEnded(session, with: record.version) }
            return .written(endsHold: hadHold && holds[session]?.isLost ?? true)
        }
    }

    /// - Returns: `nil` if it is damaged.
    /// - Throws: if a newer authd wrote it: its tokens may be newer than those of this host.
    private func readable(_ content: Secret, of session: SessionName) throws(StoreError) -> SessionRecord? {
        do throws(DamagedRecord) {
            return try SessionRecord(decoding: content)
        } catch {
            guard error.isNewer else { return nil }
            throw .failed(reason: "\(places.session(session)): it cannot be replaced: \(error.reason)")
        }
    }

    /// Before the next attempt, which follows soon after the other host has written its tokens or has released the session.
    private func pause(untilReportIn reports: StateBroadcast<Int64>, after revision: Int64) async {
        try? await pause(EtcdLimits.shortestHolderPause)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.pause(EtcdLimits.holderPause) }
            group.addTask { _ = await reports.wait { $0 > revision } }
            await group.next()
            group.cancelAll()
        }
    }

    private func terms(
        for record: SessionRecord, replacing stored: SessionRecord?, _ lifetime: inout Int64?, from start: Moment,
        after refusal: EtcdTransaction?
    ) async throws(StoreError) -> WriteTerms {
        var terms = holdTerms(record, replacing: stored, after: refusal)
        guard stored.map({ isOther(record, than: $0) }) ?? true else { return terms }
        if lifetime == nil { lifetime = try await grantLifetime(of: record, writtenFrom: start) }
        if let lifetime {
            terms.operations.append(.put([], to: places.lifetime(record.session), lease: lifetime))
        }
        return terms
    }

    /// Writes a record if it is still as it was read.
    ///
    /// - Parameters:
    ///   - content: is called after `terms`.
    ///   - mayCreate: whether it is written if there is none.
    ///   - keys: what is read, too, if the write is refused.
    ///   - former: if etcd has gone back since then, nothing is written. An older record says nothing about what others
    ///     have done since, and conditions may name changes that etcd does not have any more. `nil`: the write depends
    ///     on neither.
    ///   - terms: gets the content that is there; `nil`: none, or a damaged one. Returns what the write requires;
    ///     `nil`: it is not allowed, or has happened.
    ///   - refused: called after each attempt that was refused. Returns whether it counts towards
    ///     `EtcdLimits.writeAttempts`.
    /// - Returns: `nil` if it was not allowed.
    func write(
        _ content: () -> Secret, label: String, to place: String, mayCreate: Bool = true, reading keys: [String] = [],
        since former: ClusterView.State? = nil,
        terms: (_ stored: Secret?) async throws(StoreError) -> WriteTerms?,
        refused: (EtcdTransaction) async throws(StoreError) -> Bool = { (_) throws(StoreError) in true }
    ) async throws(StoreError) -> (revision: Int64, generation: UInt64, key: String, terms: WriteTerms)? {
        var member = try await opened()
        var found = try await read(place)
        var isListDenied = false
        if let former, hasGoneBack(since: former) { throw .cluster(.wentBack) }
        var attempts = 0
        while attempts < EtcdLimits.writeAttempts {
            guard mayCreate || found != nil else { return nil }
            var generation = places.sessionName(of: place).map(view.generation) ?? 0
            var stored: Secret?
            if let found {
                do throws(StoreError) {
                    let (content, isLate) = try await unsealed(found)
                    if !isLate { stored = content }
                    // The number of a record that does not open may be any.
                    generation = max(generation, (try? SealedBytes.header(of: found.value))?.generation ?? 0)
                    member = try await opened()
                } catch {
                    // It is damaged: a write replaces it.
                    guard case .failed = error else { throw error }
                }
            }
            guard let terms = try await terms(stored) else { return nil }
            guard let key = member.accepted.currentKeys.first else {
                throw .cluster(.invalid(reason: "the cluster has no key"))
            }
            generation = SealedBytes.generation(after: generation)
            let sealed = try SealedBytes.seal(content(), name: place, label: label, generation: generation, key: key)
            try checkSize(sealed)
            let conditions: [EtcdRequest.Condition] =
                [.changed(key: place, at: found?.modRevision ?? 0)] + member.conditions(at: places)
            let list = isListDenied ? nil : terms.list
            if let former, hasGoneBack(since: former) { throw .cluster(.wentBack) }
            let request = EtcdRequest.transaction(
                conditions + terms.conditions + (list.map { [.changed(key: $0.key, at: $0.revision)] } ?? []),
                then: [.put(sealed, to: place)] + terms.operations,
                otherwiseReading: [place, places.cluster, places.history] + keys + (list.map { [$0.key] } ?? []))
            let outcome: EtcdTransaction
            do throws(StoreError) {
                // A refusal of the list is not a fault of the store.
                let answer = list == nil ? try await call(request) : try await send(request)
                outcome = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
            } catch {
                // The role of this user may not include the list.
                if case .cluster(.denied) = error, list != nil {
                    isListDenied = true
                    continue
                }
                guard case .cluster(.tooLarge) = error else { throw error }
                throw .cluster(.tooLarge(bytes: sealed.count, limit: 0))
            }
            if outcome.succeeded { return (outcome.header.revision, generation, SealedBytes.hex(key.id), terms) }
            saw(mark: outcome.entries[places.history])
            if let former, hasGoneBack(since: former) { throw .cluster(.wentBack) }
            found = outcome.entries[place]
            if !member.isSame(in: outcome, at: places) {
                member = try await reopened(instead: member)
            }
            if try await refused(outcome) { attempts += 1 }
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
    /// - Returns: whether none was left out as damaged.
    /// - Throws: if one may still be sealed with a former key that opens it.
    func sealAgain(with member: Member) async throws(StoreError) -> Bool {
        guard let newest = member.accepted.currentKeys.first else { return true }
        var isComplete = true
        for place in [places.sessions, places.keys] {
            for entry in try await read(below: place) {
                guard let header = try? SealedBytes.header(of: entry.value), header.keyID != newest.id,
                    // A removed host has written it: nobody else has used a former key since.
                    entry.modRevision <= member.revision
                else { continue }
                let content: Secret
                do throws(StoreError) {
                    content = try await self.content(of: entry)
                } catch {
                    // A damaged record stays as it is. One that another host can read must not lose its key.
                    let roster = try await opened().accepted.roster
                    guard case .failed = error, !lacksKey(of: header, in: roster) else { throw error }
                    isComplete = false
                    continue
                }
                // What another host has written since is sealed with the newest key, and what it has deleted stays so.
                _ = try await write({ content }, label: header.label, to: entry.key, mayCreate: false) {
                    (stored) throws(StoreError) in stored == content ? WriteTerms() : nil
                }
            }
        }
        return isComplete
    }

    /// After a backup was restored, for example, records may be sealed with keys that hosts which came later have not
    /// got. All hosts notice that at once: each waits for some time, and finds what is left then.
    func sealFormerAgain() async {
        guard hasFormerSeals,
            (try? await pause(configuration.checkInterval * share(0...0.5))) != nil, let member
        else { return }
        do throws(StoreError) {
            for place in [places.sessions, places.keys] {
                for entry in try await read(below: place) { try await sealFormerAgain(entry, with: member) }
            }
            hasFormerSeals = false
        } catch {
            // The next check tries again.
        }
    }

    /// What another host has changed meanwhile stays.
    private func sealFormerAgain(_ entry: EtcdEntry, with member: Member) async throws(StoreError) {
        guard let newest = member.accepted.currentKeys.first, let header = try? SealedBytes.header(of: entry.value),
            header.keyID != newest.id,
            let content = try await unlessDamaged({ () throws(StoreError) in try await content(of: entry) })
        else { return }
        let generation = SealedBytes.generation(
            after: max(header.generation, places.sessionName(of: entry.key).map(view.generation) ?? 0))
        let sealed = try SealedBytes.seal(
            content, name: entry.key, label: header.label, generation: generation, key: newest)
        let outcome = try await transaction(
            .transaction(
                [.changed(key: entry.key, at: entry.modRevision)] + member.conditions(at: places),
                then: [.put(sealed, to: entry.key)], otherwiseReading: [places.cluster, places.history]))
        guard outcome.succeeded || member.isSame(in: outcome, at: places) else {
            throw .cluster(.contended)
        }
    }

    /// Whether a current key of the cluster opens it, which this host has not got.
    private func lacksKey(of header: SealedBytes.Header, in roster: ClusterRoster) -> Bool {
        roster.keyIDs.contains(SealedBytes.hex(header.keyID))
            && !(member?.accepted.keys.contains { $0.id == header.keyID } ?? false)
    }
}
