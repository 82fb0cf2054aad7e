import AuthConcurrency
package import AuthModel
import AuthSealedFile
import AuthWire

/// Opens the store: with this host's own key and the cluster's record, the record keys are known.
extension EtcdStore {
    /// Attempts to write the cluster's record while other hosts do the same.
    private static let attempts = 8

    func opened() async throws(StoreError) -> Member {
        if let member { return member }
        return try await opened { self.member }
    }

    /// Reads the cluster's record again, unless another task has done so since `former`.
    func reopened(instead former: Member) async throws(StoreError) -> Member {
        try await opened { self.member.flatMap { $0.isSame(as: former) ? nil : $0 } }
    }

    /// One attempt at a time. If it cannot reach etcd, the calls that wait for it fail, too: each of their attempts would take
    /// as long.
    /// - Parameter known: what another task may have read meanwhile.
    private func opened(_ known: () -> Member?) async throws(StoreError) -> Member {
        let attempts = failedOpenings
        return try await opening { () throws(StoreError) in
            if let member = known() { return member }
            if failedOpenings != attempts, let openingError { throw openingError }
            do throws(StoreError) {
                return try await self.open()
            } catch {
                if case .cluster(let fault) = error, fault.isUnreachable, !Task.isCancelled {
                    failedOpenings += 1
                    openingError = error
                }
                throw error
            }
        }
    }

    func opening<Value: Sendable>(
        _ work: () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        guard let value = try await opening.withLock({ () async throws(StoreError) -> Value in try await work() })
        else {
            throw .failed(reason: "the call was cancelled")
        }
        return value
    }

    private func open() async throws(StoreError) -> Member {
        var host = try await prepareHost()
        for _ in 1...Self.attempts {
            let (stored, mark) = try await readMarked()
            saw(mark: mark)
            let decision = try cluster { () throws(ClusterFault) in
                try ClusterMembership(host: host, place: places.cluster).decision(on: stored?.value)
            }
            switch decision {
            case .refuse(let fault):
                member = nil
                throw .cluster(fault)
            case .accept(let accepted):
                // On this host's disk first: later, an older record is recognized by it.
                if accepted != host.accepted || host.code != nil {
                    (host.accepted, host.code) = (accepted, nil)
                    try await keep(host)
                }
                let member = Member(accepted: accepted, revision: stored?.modRevision ?? 0, mark: mark)
                self.member = member
                ownID = host.key.id
                admissionRequestedAt = nil
                return member
            case .create(let accepted):
                // If this host ends after the write, it recognizes the record as its own.
                _ = try await write(accepted.record, replacing: stored?.modRevision, in: mark)
            case .putBack(let accepted):
                note(.wentBack)
                _ = try await write(accepted.record, replacing: stored?.modRevision, in: mark)
            }
        }
        throw .cluster(.contended)
    }

    /// - Parameters:
    ///   - revision: the last change of the stored record; `nil`: there is none.
    ///   - mark: what was read with it.
    /// - Returns: the revision of the record; `nil` if another host was first, or if etcd went back.
    private func write(
        _ record: ClusterRecord, replacing revision: Int64?, in mark: EtcdEntry?
    ) async throws(StoreError) -> Int64? {
        let bytes = record.bytes
        try checkSize(bytes)
        let answer = try await call(
            .put(
                bytes, to: places.cluster,
                if: [.changed(key: places.cluster, at: revision ?? 0), Member.condition(mark, at: places)],
                otherwiseReading: []))
        let written = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
        return written.succeeded ? written.header.revision : nil
    }

    // MARK: This host

    /// This host's key, and the cluster as this host has accepted it; `nil`: it has no key yet.
    func hostState() async throws(StoreError) -> HostState? {
        guard let content = try await hostContent() else { return nil }
        return try cluster { () throws(ClusterFault) in try HostState(content, place: places.cluster) }
    }

    /// Before the first call to etcd: creates this host's key if there is none, and uses the member of etcd that the key
    /// chooses. The host's name does not choose it: the machines of a CI farm may all have the same one.
    func prepareHost() async throws(StoreError) -> HostState {
        let host: HostState
        if let known = try await hostState() {
            host = known
        } else {
            let key = try cluster { () throws(ClusterFault) in try HostKey.random() }
            host = HostState(key: key, name: configuration.hostName)
            try await keep(host)
        }
        if configuration.spreads { client.prefer(EndpointRing.choice(of: host.key.id)) }
        return host
    }

    /// What ``keep(_:)`` has written; `nil`: nothing yet.
    func hostContent() async throws(StoreError) -> Secret? {
        let content = try await local.key(for: .host)
        hostKeyIsOpen()
        return content
    }

    func keep(_ host: HostState) async throws(StoreError) {
        try await local.save(host.content, for: .host)
    }

    // MARK: Hosts and keys

    /// A new record key for all hosts, or for all but one, and everything sealed with it. The former keys stay until
    /// ``endKeyChange()``. After an error everything is readable, and the next change of the key does the rest.
    func changeRecordKey(without host: String? = nil) async throws(StoreError) {
        let member = try await change { (membership, accepted) throws(ClusterFault) in
            try membership.rekeyed(accepted, without: host)
        }
        lastMadeKeyID = member.accepted.roster.keyIDs.first
        if try await !sealAgain(with: member) { hasFormerSeals = true }
    }

    package func endKeyChange() async throws(StoreError) {
        try await reporting(writes: true) { () throws(StoreError) in
            let member = try await opened()
            // Otherwise another host has begun a later change, and ends this one with its own.
            if member.accepted.roster.keyIDs.first == lastMadeKeyID { try await settle(member) }
        }
    }

    /// Seals everything with the newest key, and then gives up the former ones. If another host makes a newer key meanwhile,
    /// everything is sealed with that: what this host has sealed with its own key is not left behind, whichever of the two
    /// comes to the end.
    func settle(_ changed: Member) async throws(StoreError) {
        var member = changed
        var isComplete = true
        for _ in 1...Self.attempts {
            if try await !sealAgain(with: member) { isComplete = false }
            let newest = member.accepted.roster.keyIDs.first
            let revision = member.revision
            member = try await change { (membership, accepted) throws(ClusterFault) in
                guard accepted.roster.keyIDs.first == newest, accepted.roster.keyIDs.count > 1 else { return nil }
                return try membership.settled(accepted, at: revision)
            }
            if member.accepted.roster.keyIDs == [newest] {
                if !isComplete { hasFormerSeals = true }
                return
            }
        }
        throw .cluster(.contended)
    }

    /// Replaces the cluster's record by what `next` makes of it; `nil`: it stays.
    @discardableResult
    func change(
        _ next: @Sendable (ClusterMembership, AcceptedCluster) throws(ClusterFault) -> AcceptedCluster?
    ) async throws(StoreError) -> Member {
        for _ in 1...Self.attempts {
            let former = try await opened()
            let changed = try await opening { () throws(StoreError) -> Member? in
                guard var host = try await self.hostState() else {
                    throw .cluster(.invalid(reason: "this host's own key is missing"))
                }
                let last = former.accepted.givingUpFormerKeys(at: former.revision)
                let accepted = try self.cluster { () throws(ClusterFault) in
                    try next(ClusterMembership(host: host, place: self.places.cluster), last)
                }
                guard let accepted else { return former }
                let written = try await self.write(
                    accepted.record, replacing: former.revision, in: former.mark)
                guard let revision = written else { return nil }
                host.accepted = accepted
                try await self.keep(host)
                let member = Member(accepted: accepted, revision: revision, mark: former.mark)
                self.member = member
                return member
            }
            if let changed { return changed }
            _ = try await reopened(instead: former)
        }
        throw .cluster(.contended)
    }

    func cluster<Value>(_ work: () throws(ClusterFault) -> Value) throws(StoreError) -> Value {
        do throws(ClusterFault) { return try work() } catch { throw .cluster(error) }
    }
}

// MARK: The user's key

extension EtcdStore: SealedStore {
    /// Opens this host's own key.
    package func unlock(with passphrase: Secret?) async throws(SealRefusal) {
        try await local.unlock(with: passphrase)
        wake()
        do throws(StoreError) {
            _ = try await reporting { () throws(StoreError) in try await opened() }
        } catch {
            throw .store(error)
        }
    }

    package func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {
        try await local.checkRekey(change, hasCurrent: hasCurrent)
    }

    /// A new record key for the whole cluster, and a new key of this host's own store.
    package func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {
        try await local.rekey(change, current: current)
        do throws(StoreError) {
            try await reporting(writes: true) { () throws(StoreError) in
                // A change that did not end may be a removal: what the host has read is renewed before the former key goes.
                let isFirst = try await opened().accepted.roster.keyIDs.count < 2
                try await changeRecordKey()
                if isFirst { try await settle(try await opened()) }
            }
        } catch {
            if case .sameOutside = change { throw .store(error) }
            throw .changed(error)
        }
    }
}
