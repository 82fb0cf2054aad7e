import AuthModel
package import AuthWire

/// The user's requests about the hosts that share a store.
extension StoreAdmin {
    package func clusterStatus() async throws(AgentError) -> ClusterStatus {
        let cluster = try cluster
        return try await converting(StoreError.self, try await cluster.status())
    }

    package func join() async throws(AgentError) -> ClusterCode {
        let cluster = try cluster
        let code = try await converting(StoreError.self, try await cluster.requestAdmission())
        return ClusterCode(code: code.reveal())
    }

    package func admit(_ params: ClusterAdmit) async throws(AgentError) -> MessageResult {
        let cluster = try cluster
        let name = try await converting(StoreError.self, try await cluster.admit(Secret(params.code)))
        guard let name else {
            throw AgentError(
                .refused,
                "No host has requested to be admitted with this code: check it, or run `authc cluster join` there again."
            )
        }
        return MessageResult(message: "Admitted: \(name).")
    }

    /// What the host has read ends soon, because every session is renewed.
    /// - Parameter names: the sessions that the message may name.
    package func forget(
        _ params: ClusterForget, naming names: SessionNames = .all
    ) async throws(AgentError) -> MessageResult {
        let cluster = try cluster
        let members = try await converting(StoreError.self, try await cluster.members())
        let named = members.filter { $0.id == params.host || $0.name == params.host }
        guard let host = named.first else {
            throw AgentError(.notFound, "There is no host \(params.host) in the cluster: run `authc cluster status`.")
        }
        guard named.count == 1 else {
            throw AgentError(.validation, "Several hosts are called \(params.host): name one by its ID.")
        }
        guard !host.isThis else {
            throw AgentError(.unsupported, "This host cannot remove itself: run the command on another one.")
        }
        do throws(StoreError) {
            try await cluster.remove(host)
        } catch {
            var refusal = AgentError(error)
            let left = try? await cluster.members()
            if let left, !left.contains(where: { $0.id == host.id }), (try? await cluster.isRekeying()) ?? false {
                refusal.message +=
                    " \(host.name) is not a member any more, but sessions may still be sealed with the former key: "
                    + "`authc store rekey` does the rest."
            }
            throw refusal
        }
        return MessageResult(
            message: "\(host.name) is not a member any more. Change its password at etcd, or its certificate."
                + (await renewed(naming: names)))
    }

    /// A new key for the store of the cluster.
    /// - Returns: what else the user has to know.
    func rekeyCluster(
        naming names: SessionNames, _ rekey: () async throws(AgentError) -> Void
    ) async throws(AgentError) -> String {
        guard let cluster = store.present as? any ClusterStore, (try? await cluster.isRekeying()) ?? false else {
            try await rekey()
            return ""
        }
        try await rekey()
        // A host may have been removed then, and has read these tokens.
        return " A former change of the key had not ended, so every session was renewed."
            + (await renewed(naming: names))
    }

    /// Renews every session.
    /// - Returns: which ones could not be renewed, for the user.
    private func renewed(naming names: SessionNames) async -> String {
        var failed: [SessionName] = []
        for session in registry.all {
            do throws(AgentError) { try await session.renew() } catch { failed.append(session.name) }
        }
        return failed.isEmpty ? "" : " Not renewed: \(names.list(failed.sorted()))."
    }

    /// - Throws: if sessions would end on other hosts, which the user may not know.
    func checkMoveAway(_ params: StoreMigrate) async throws(AgentError) {
        guard !params.endsElsewhere, let cluster = store.present as? any ClusterStore else { return }
        let others = try await converting(StoreError.self, try await cluster.members()).filter { !$0.isThis }
        guard !others.isEmpty else { return }
        let names = others.map(\.name).sorted()
        throw AgentError(
            .conflict, "This ends the sessions on the other hosts that share them: \(names.joined(separator: ", ")).",
            cause: StoreMigrate.otherHostsCause)
    }

    private var cluster: any ClusterStore {
        get throws(AgentError) {
            if let cluster = store.present as? any ClusterStore { return cluster }
            throw AgentError(.unsupported, "Only etcd is shared by hosts; sessions are in \(store.kind.rawValue).")
        }
    }
}
