import AuthConcurrency
package import AuthModel
import AuthWire

/// Hosts that join and leave.
extension EtcdStore: ClusterStore {
    package func members() async throws(StoreError) -> [ClusterMember] {
        try await reporting { () throws(StoreError) in
            let accepted = try await opened().accepted
            return accepted.roster.hosts.map { ClusterMember(id: $0.id, name: $0.name, isThis: $0.id == ownID) }
        }
    }

    package func requestAdmission() async throws(StoreError) -> Secret {
        let code = try await opening { () throws(StoreError) in try await self.ask() }
        admissionRequestedAt = clock.bootInstant
        wake()
        return Secret(code.shown)
    }

    private func ask() async throws(StoreError) -> AdmissionCode {
        var host = try await prepareHost()
        guard let stored = try await read(places.cluster) else {
            throw .denied(reason: "there is no cluster in etcd yet, and this host may create it")
        }
        let decision = try cluster { () throws(ClusterFault) in
            try ClusterMembership(host: host, place: places.cluster).decision(on: stored.value)
        }
        guard case .refuse = decision else { throw .denied(reason: "this host is a member of the cluster already") }
        let record = try cluster { () throws(ClusterFault) in try ClusterRecord(stored.value) }
        // It was removed, or belonged to another cluster: what it knew then does not count any more.
        host.accepted = nil
        let code = AdmissionCode.random()
        host.code = code
        try await keep(host)
        let granted = try await call(.grantLease(seconds: EtcdLimits.admissionSeconds))
        guard let lease = granted.leaseID() else { throw .cluster(.invalid(reason: "a lease without a number")) }
        let admission = Admission(of: host.host, to: record.cluster, with: code)
        _ = try await call(
            .put(admission.bytes, to: places.admission(host.key.id), if: [], lease: lease, otherwiseReading: []))
        return code
    }

    package func admit(_ code: Secret) async throws(StoreError) -> String? {
        guard let code = AdmissionCode(code.reveal()) else { return nil }
        return try await reporting(writes: true) { () throws(StoreError) -> String? in
            let admissions = try await read(below: places.admissions).compactMap { Admission($0.value) }
            let cluster = try await opened().accepted.roster.cluster
            guard let admission = admissions.first(where: { $0.isProved(with: code, in: cluster) }) else { return nil }
            try await change { (membership, accepted) throws(ClusterFault) in
                try membership.admitting(admission.host, with: code, to: accepted)
            }
            // Its lease removes it otherwise.
            _ = try? await call(.delete(places.admission(admission.host.id), if: [], otherwiseReading: []))
            return admission.host.name
        }
    }

    package func remove(_ host: ClusterMember) async throws(StoreError) {
        try await reporting(writes: true) { () throws(StoreError) in try await changeRecordKey(without: host.id) }
        await removePresence(of: host.id)
    }
}
