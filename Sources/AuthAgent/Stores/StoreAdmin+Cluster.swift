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

    /// Renews every session afterwards, because the host has read the tokens.
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
        guard registry.isLoaded else { throw .storeNotRead(context.board.store) }
        var unrenewed: [SessionName] = []
        do throws(AgentError) {
            unrenewed = try await registry.renewAll(after: { () throws(AgentError) in
                try await converting(StoreError.self, try await cluster.remove(host))
            })
            try await endKeyChange(of: cluster)
        } catch {
            guard let left = try? await cluster.members(), !left.contains(where: { $0.id == host.id }) else {
                throw error
            }
            var refusal = error
            refusal.message += " \(host.name) is not a member any more." + Self.text(unrenewed: unrenewed, names)
            if (try? await cluster.isRekeying()) ?? true {
                refusal.message +=
                    " The change of the key has not ended: `authc store rekey` does the rest, and renews the sessions."
            }
            throw refusal
        }
        return MessageResult(
            message: "\(host.name) is not a member any more. Change its password at etcd, or its certificate."
                + Self.text(unrenewed: unrenewed, names))
    }

    /// A new key for the store of the cluster.
    /// - Returns: what else the user has to know.
    func rekeyCluster(
        naming names: SessionNames, _ rekey: () async throws(AgentError) -> Void
    ) async throws(AgentError) -> String {
        try await rekey()
        guard let cluster = store.present as? any ClusterStore, (try? await cluster.isRekeying()) ?? false else {
            return ""
        }
        // A host may have been removed then, and has read these tokens.
        let unrenewed = try await registry.renewAll()
        try await endKeyChange(of: cluster)
        return " A former change of the key had not ended, so the sessions were renewed."
            + Self.text(unrenewed: unrenewed, names)
    }

    /// Until then, the status shows after an interruption that sessions may have to be renewed.
    private func endKeyChange(of cluster: any ClusterStore) async throws(AgentError) {
        guard !Task.isCancelled else { throw .callerGone }
        try await converting(StoreError.self, try await cluster.endKeyChange())
    }

    private static func text(unrenewed sessions: [SessionName], _ names: SessionNames) -> String {
        guard !sessions.isEmpty else { return "" }
        return " A removed host may still use the tokens of sessions that were not renewed: run "
            + "`authc refresh -s NAME`, and sign in again if that fails. Not renewed: \(names.list(sessions))."
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
