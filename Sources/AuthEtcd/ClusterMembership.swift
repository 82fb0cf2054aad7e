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
        let known = knownHosts(record)
        var keys: [SealingKey] = []
        for wrapped in record.wrapped where wrapped.host == host.key.id {
            if let key = unwrapped(wrapped, record, known) { keys.append(key) }
        }
        // A host that was removed has the keys of its time, and what was wrapped then. So none of those makes a new record.
        let newest = Array((host.accepted?.currentKeys ?? []).prefix(1))
        let outdated = (host.accepted?.keys ?? []).filter { key in !newest.contains { $0.id == key.id } }
        keys.removeAll { key in outdated.contains { $0.id == key.id } }
        let former = (host.accepted?.keys ?? []).filter { key in !keys.contains { $0.id == key.id } }
        guard let roster = roster(of: record, sealedWith: keys + newest), roster.host(host.key.id) != nil
        else { return nil }
        let ordered = (keys + former).sorted { one, other in
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

    /// Public keys of the members, as far as this host knows them by itself.
    private func knownHosts(_ record: ClusterRecord) -> [String: [UInt8]] {
        var known = [host.key.id: host.key.publicKey]
        guard let accepted = host.accepted else { return known }
        var hosts = accepted.roster.hosts
        if let sealed = record.formerRoster,
            let roster = ClusterRoster(
                opening: sealed, at: Self.formerPlace(place), with: Array(accepted.currentKeys.prefix(1))),
            roster.cluster == accepted.roster.cluster, roster.epoch >= accepted.roster.epoch
        {
            hosts = roster.hosts
        }
        for host in hosts { known[host.id] = host.publicKey }
        return known
    }

    private func unwrapped(
        _ wrapped: WrappedKey, _ record: ClusterRecord, _ known: [String: [UInt8]]
    ) -> SealingKey? {
        if let sender = known[wrapped.by], !wrapped.isAdmission {
            return host.key.unwrap(wrapped, by: sender, of: record.cluster)
        }
        // Nobody else knows the code.
        guard wrapped.isAdmission, let code = host.code else { return nil }
        return host.key.unwrap(wrapped, by: wrapped.byPublicKey, of: record.cluster, code: code)
    }

    // MARK: Changing

    /// A new cluster with this host alone.
    private func first() throws(ClusterFault) -> AcceptedCluster {
        let key = try Self.newKey()
        let cluster = SealedBytes.hex((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        return try made(cluster: cluster, epoch: 1, keys: [key], hosts: [host.host], wrapped: [], formerRoster: nil)
    }

    /// With another host, which has proved that it knows the code.
    func admitting(
        _ newcomer: ClusterHost, with code: AdmissionCode, to accepted: AcceptedCluster
    ) throws(ClusterFault) -> AcceptedCluster {
        var wrapped = accepted.record.wrapped.filter { $0.host != newcomer.id }
        for key in accepted.currentKeys {
            wrapped.append(try host.key.wrap(key, for: newcomer, of: accepted.roster.cluster, code: code))
        }
        let hosts = accepted.roster.hosts.filter { $0.id != newcomer.id } + [newcomer]
        return try made(
            cluster: accepted.roster.cluster, epoch: accepted.roster.epoch + 1, keys: accepted.currentKeys,
            hosts: hosts,
            wrapped: wrapped, formerRoster: accepted.record.formerRoster)
    }

    /// With a new record key, which ``settled(_:)`` makes the only one after everything is sealed with it.
    ///
    /// - Parameter removed: the host that does not get it.
    func rekeyed(
        _ accepted: AcceptedCluster, without removed: String? = nil
    ) throws(ClusterFault) -> AcceptedCluster {
        let former = accepted.currentKeys
        guard let last = former.first else { throw .invalid(reason: "the cluster has no key") }
        let hosts = accepted.roster.hosts.filter { $0.id != removed }
        let roster = ClusterRoster(
            cluster: accepted.roster.cluster, epoch: accepted.roster.epoch, keyIDs: accepted.roster.keyIDs, hosts: hosts
        )
        return try made(
            cluster: accepted.roster.cluster, epoch: accepted.roster.epoch + 1, keys: [try Self.newKey()] + former,
            hosts: hosts, wrapped: accepted.record.wrapped.filter { $0.host != removed },
            formerRoster: roster.sealed(at: Self.formerPlace(place), with: last))
    }

    /// Everything is sealed with the newest key: hosts need no other one.
    func settled(_ accepted: AcceptedCluster) throws(ClusterFault) -> AcceptedCluster {
        let newest = Array(accepted.currentKeys.prefix(1))
        let ids = newest.map { SealedBytes.hex($0.id) }
        return try made(
            cluster: accepted.roster.cluster, epoch: accepted.roster.epoch + 1, keys: newest,
            hosts: accepted.roster.hosts,
            wrapped: accepted.record.wrapped.filter { ids.contains($0.key) }, formerRoster: accepted.record.formerRoster
        )
    }

    private func made(
        cluster: String, epoch: UInt64, keys: [SealingKey], hosts: [ClusterHost], wrapped: [WrappedKey],
        formerRoster: [UInt8]?
    ) throws(ClusterFault) -> AcceptedCluster {
        guard let newest = keys.first else { throw .invalid(reason: "the cluster has no key") }
        var wrapped = wrapped
        for key in keys {
            let id = SealedBytes.hex(key.id)
            for host in hosts where !wrapped.contains(where: { $0.host == host.id && $0.key == id }) {
                wrapped.append(try self.host.key.wrap(key, for: host, of: cluster))
            }
        }
        let roster = ClusterRoster(
            cluster: cluster, epoch: epoch, keyIDs: keys.map { SealedBytes.hex($0.id) }, hosts: hosts)
        let record = ClusterRecord(
            cluster: cluster, epoch: epoch, wrapped: wrapped, roster: try roster.sealed(at: place, with: newest),
            formerRoster: formerRoster)
        let older = (host.accepted?.keys ?? []).filter { old in !keys.contains { $0.id == old.id } }
        return AcceptedCluster(roster: roster, keys: keys + older, record: record)
    }

    private static func newKey() throws(ClusterFault) -> SealingKey {
        do throws(StoreError) { return try .random() } catch { throw .invalid(reason: error.reason) }
    }

    private static func formerPlace(_ place: String) -> String { place + " former" }
}

extension AcceptedCluster {
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
