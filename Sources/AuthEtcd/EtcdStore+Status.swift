package import AuthModel
package import AuthWire

/// What users see of the cluster.
extension EtcdStore {
    /// How long a change may take from etcd to this agent before it counts as not processed.
    private static let processingChecks = 10
    private static let processingPause = Duration.milliseconds(100)

    package func status() async throws(StoreError) -> ClusterStatus {
        let host = try await hostState()
        async let members = client.memberStatus()
        async let answer = overview()
        var status = ClusterStatus()
        let accepted = member?.accepted ?? host?.accepted
        status.hosts = (accepted?.roster.hosts ?? []).map {
            ClusterHostInfo(id: $0.id, name: $0.name, isThis: $0.id == host?.key.id)
        }
        status.isRekeying = accepted.map { $0.roster.keyIDs.count > 1 } ?? false
        (status.etcd, status.voters) = await members
        switch await answer {
        case .success(let overview): await fill(&status, from: overview)
        case .failure(let fault): name(fault, in: &status)
        }
        if case .cluster(let fault) = present, status.cause == nil {
            (status.cause, status.message) = (fault.name, fault.message)
        }
        return status
    }

    package func isRekeying() async throws(StoreError) -> Bool {
        try await opened().accepted.roster.keyIDs.count > 1
    }

    /// A read of a majority, at one revision.
    private func overview() async -> Result<EtcdTransaction, ClusterFault> {
        let reads: [EtcdRequest.Operation] = [
            .readAll(below: places.reports), .readAll(below: places.connections), .readAll(below: places.holders),
            .readChanged(from: places.watched, end: places.watchedEnd, since: processed),
        ]
        do throws(ClusterFault) {
            let answer = try await client.call(
                .transaction([], then: reads, otherwiseReading: []), within: EtcdLimits.view, diagnoses: false)
            let transaction = try EtcdTransaction(answer)
            guard transaction.reads.count == reads.count else {
                throw .invalid(reason: "a transaction without its reads")
            }
            return .success(transaction)
        } catch {
            return .failure(error)
        }
    }

    private func fill(_ status: inout ClusterStatus, from overview: EtcdTransaction) async {
        let up = Set(overview.reads[1].compactMap { places.host(of: $0.key, below: places.connections) })
        for index in status.hosts.indices {
            let id = status.hosts[index].id
            let report = overview.entries[places.report(id)].flatMap { HostReport($0.value) }
            status.hosts[index].version = report?.version
            status.hosts[index].seenAt = report?.writtenAt.unixSeconds
            status.hosts[index].isConnected = up.contains(id)
        }
        status.renewals = overview.reads[2].compactMap { entry in
            places.heldSession(of: entry.key).map { session in
                let host = String(decoding: entry.value, as: UTF8.self)
                return ClusterRenewal(session: session, host: host.isEmpty ? nil : host)
            }
        }
        let last = overview.reads[3].map(\.modRevision).max() ?? 0
        for _ in 1...Self.processingChecks where processed < last {
            guard (try? await pause(Self.processingPause)) != nil else { break }
        }
        status.revision = Int(overview.header.revision)
        status.processedRevision = Int(processed)
        status.unprocessed = overview.reads[3].count { $0.modRevision > processed }
    }

    private func name(_ fault: ClusterFault, in status: inout ClusterStatus) {
        var named = fault
        if case .unreachable = fault, status.etcd.contains(where: { [.ready, .noLeader].contains($0.state) }) {
            named = .noQuorum
        }
        (status.cause, status.message) = (named.name, named.message)
    }
}
