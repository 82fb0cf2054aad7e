import AuthModel
import AuthSealedFile
import AuthWire

/// Decides what the cluster's record in etcd means for this host, and makes the next record. It does nothing itself.
///
/// Invariants: a record key is accepted only if this host or a host that it knows as a member has wrapped it, or one
/// that knows the code of its admission. An older record never replaces a newer one. Every host of the new record can
/// unwrap its newest key.
struct ClusterMembership: Sendable {
    enum Decision: Sendable, Equatable {
        /// There is no cluster yet: this host creates it.
        case create(AcceptedCluster)
        case accept(AcceptedCluster)
        /// etcd has an older record, or none: this host's copy is written again.
        case putBack(AcceptedCluster)
        case refuse(ClusterFault)
    }

    let host: HostState
    /// ``EtcdPlaces/cluster``.
    let place: String

    /// - Parameter stored: the value in etcd; `nil`: there is none.
    func decision(on stored: [UInt8]?) throws(ClusterFault) -> Decision {
        guard let stored else {
            if let accepted = host.accepted { return .putBack(accepted) }
            // It waits to be admitted, and must not create a cluster.
            guard host.code == nil else { return .refuse(.notAdmitted) }
            return .create(try first())
        }
        let record = try ClusterRecord(stored)
        if let accepted = host.accepted {
            guard record.cluster == accepted.roster.cluster else { return .refuse(.otherCluster) }
            if record.epoch < accepted.roster.epoch { return .putBack(accepted) }
            if record == accepted.record { return .accept(accepted) }
        }
        guard let accepted = opened(record) else { return .refuse(.notAdmitted) }
        return .accept(accepted)
    }

    // MARK: Reading

    private func opened(_ record: ClusterRecord) -> AcceptedCluster? {
        var found = RecordKeys(of: record, for: host, place: place)
        let newest = Array((host.accepted?.currentKeys ?? []).prefix(1))
        guard let roster = roster(of: record, sealedWith: found.keys + newest), roster.host(host.key.id) != nil
        else { return nil }
        // Somebody has begun from a restored backup, from before the host was removed.
        if roster.hosts.contains(where: { host.removed.contains($0.id) }), !found.continues(newest) { return nil }
        found.trust(roster)
        let ordered = (found.keys + (host.accepted?.keys ?? [])).sorted { one, other in
            (roster.place(of: one), roster.place(of: other)) < (roster.place(of: other), roster.place(of: one))
        }
        return AcceptedCluster(roster: roster, keys: ordered, record: record)
    }

    /// The roster, which must be sealed with the newest of the keys that it names.
    private func roster(of record: ClusterRecord, sealedWith keys: [SealingKey]) -> ClusterRoster? {
        for key in keys {
            guard let roster = ClusterRoster(opening: record.roster, at: place, with: [key]) else { continue }
            let isOfRecord = roster.cluster == record.cluster && roster.epoch == record.epoch
            return isOfRecord && roster.keyIDs.first == SealedBytes.hex(key.id) ? roster : nil
        }
        return nil
    }

    // MARK: Changing

    /// A new cluster with this host alone.
    private func first() throws(ClusterFault) -> AcceptedCluster {
        let key = try Self.newKey()
        let cluster = SealedBytes.hex((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        let roster = ClusterRoster(cluster: cluster, epoch: 1, keyIDs: [SealedBytes.hex(key.id)], hosts: [host.host])
        return try made(roster, with: [key], wrapped: [], formerRosters: [])
    }

    /// With another host, which has proved that it knows the code.
    func admitting(
        _ newcomer: ClusterHost, with code: AdmissionCode, to accepted: AcceptedCluster
    ) throws(ClusterFault) -> AcceptedCluster {
        var wrapped = accepted.record.wrapped.filter { $0.host != newcomer.id }
        for key in accepted.currentKeys {
            wrapped.append(try host.key.wrap(key, for: newcomer, of: accepted.roster.cluster, code: code))
        }
        var roster = accepted.roster.next
        roster.hosts = accepted.roster.hosts.filter { $0.id != newcomer.id } + [newcomer]
        return try made(
            roster, with: accepted.currentKeys, wrapped: wrapped, formerRosters: accepted.record.formerRosters)
    }

    /// With a new record key, which ``settled(_:)`` makes the only one after everything is sealed with it.
    ///
    /// - Parameter removed: the host that does not get it.
    func rekeyed(
        _ accepted: AcceptedCluster, without removed: String? = nil
    ) throws(ClusterFault) -> AcceptedCluster {
        guard let last = accepted.currentKeys.first else { throw .invalid(reason: "the cluster has no key") }
        var former = accepted.roster
        former.hosts.removeAll { $0.id == removed }
        let key = try Self.newKey()
        var roster = former.next
        roster.keyIDs.insert(SealedBytes.hex(key.id), at: 0)
        let wrapped = try removed.map { host throws(ClusterFault) in try wrappings(of: accepted, without: host) }
        return try made(
            roster, with: [key] + accepted.currentKeys, wrapped: wrapped ?? accepted.record.wrapped,
            formerRosters: [former.sealed(at: RecordKeys.formerPlace(place), with: last)]
                + accepted.record.formerRosters)
    }

    /// Everything is sealed with the newest key: hosts that have it need no other one. The others are led to it by former
    /// keys and rosters.
    /// - Parameter revision: a change of the cluster's record with the newest key.
    func settled(_ accepted: AcceptedCluster, at revision: Int64) throws(ClusterFault) -> AcceptedCluster {
        var roster = accepted.roster.next
        roster.giveUp(roster.keyIDs.dropFirst(), at: revision)
        roster.keyIDs = Array(roster.keyIDs.prefix(1))
        return try made(
            roster, with: Array(accepted.currentKeys.prefix(1)), wrapped: accepted.record.wrapped,
            formerRosters: accepted.record.formerRosters)
    }

    /// What the removed host has wrapped for others is wrapped by this one, too: some do not know that host any more.
    /// Hosts that were away need the former one: they may not know this host yet.
    private func wrappings(
        of accepted: AcceptedCluster, without removed: String
    ) throws(ClusterFault) -> [WrappedKey] {
        var wrapped = accepted.record.wrapped.filter { $0.host != removed }
        for former in wrapped where former.by == removed && !former.isAdmission {
            let isReplaced = wrapped.contains {
                $0.host == former.host && $0.key == former.key && $0.by != removed && accepted.roster.host($0.by) != nil
            }
            guard !isReplaced, let host = accepted.roster.host(former.host),
                let key = accepted.keys.first(where: { SealedBytes.hex($0.id) == former.key })
            else { continue }
            wrapped.append(try self.host.key.wrap(key, for: host, of: accepted.roster.cluster))
        }
        return wrapped
    }

    /// - Parameters:
    ///   - keys: those of the roster that this host has, the newest first.
    ///   - wrapped: includes former keys, for hosts that were away.
    private func made(
        _ roster: ClusterRoster, with keys: [SealingKey], wrapped: [WrappedKey], formerRosters: [[UInt8]]
    ) throws(ClusterFault) -> AcceptedCluster {
        guard let newest = keys.first else { throw .invalid(reason: "the cluster has no key") }
        var wrapped = wrapped
        for key in keys {
            let id = SealedBytes.hex(key.id)
            for host in roster.hosts where !wrapped.contains(where: { $0.host == host.id && $0.key == id }) {
                wrapped.append(try self.host.key.wrap(key, for: host, of: roster.cluster))
            }
        }
        let record = ClusterRecord(
            cluster: roster.cluster, epoch: roster.epoch, wrapped: wrapped,
            roster: try roster.sealed(at: place, with: newest), formerRosters: formerRosters
        ).bounded(current: roster.keyIDs)
        let older = (host.accepted?.keys ?? []).filter { old in !keys.contains { $0.id == old.id } }
        return AcceptedCluster(roster: roster, keys: keys + older, record: record)
    }

    private static func newKey() throws(ClusterFault) -> SealingKey {
        do throws(StoreError) { return try .random() } catch { throw .invalid(reason: error.reason) }
    }
}

extension AcceptedCluster {
    /// Before a change: nothing was sealed with a key other than the newest after the last one.
    /// - Parameter revision: of the last change of the cluster's record.
    func givingUpFormerKeys(at revision: Int64) -> AcceptedCluster {
        var roster = roster
        let former = Set(roster.keyIDs + keys.map { SealedBytes.hex($0.id) }).subtracting(roster.keyIDs.prefix(1))
        roster.giveUp(former, at: revision)
        return AcceptedCluster(roster: roster, keys: keys, record: record)
    }

    /// Those that records may be sealed with, the newest first.
    var currentKeys: [SealingKey] {
        roster.keyIDs.compactMap { id in keys.first { SealedBytes.hex($0.id) == id } }
    }
}

extension ClusterRoster {
    /// Keys that are not current come last.
    fileprivate func place(of key: SealingKey) -> Int {
        keyIDs.firstIndex(of: SealedBytes.hex(key.id)) ?? keyIDs.count
    }
}
