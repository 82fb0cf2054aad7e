import AuthModel
package import AuthWire

/// The user's requests about the hosts that share a store.
extension StoreAdmin {
    package func clusterStatus() async throws(AgentError) -> ClusterStatus {
        let cluster = try cluster
        let members = try await converting(StoreError.self, try await cluster.members())
        return ClusterStatus(hosts: members.map { ClusterHostInfo(id: $0.id, name: $0.name, isThis: $0.isThis) })
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
    package func forget(_ params: ClusterForget) async throws(AgentError) -> MessageResult {
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
        try await converting(StoreError.self, try await cluster.remove(host))
        var failed: [String] = []
        for session in registry.all {
            do throws(AgentError) { try await session.renew() } catch { failed.append(session.name.text) }
        }
        let rest = failed.isEmpty ? "" : " Not renewed: \(failed.sorted().joined(separator: ", "))."
        return MessageResult(
            message: "\(host.name) is not a member any more. Change its password at etcd, or its certificate.\(rest)")
    }

    private var cluster: any ClusterStore {
        get throws(AgentError) {
            if let cluster = store.present as? any ClusterStore { return cluster }
            throw AgentError(.unsupported, "Only etcd is shared by hosts; sessions are in \(store.kind.rawValue).")
        }
    }
}
