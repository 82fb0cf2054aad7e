package import AuthWire

/// A store of several hosts: which hosts there are, and which ones join and leave.
package protocol ClusterStore: Sendable {
    func members() async throws(StoreError) -> [ClusterMember]

    /// The hosts, who renews what, and the servers behind the store, as far as they can be reached now.
    /// - Throws: if this host's own key cannot be read. A fault of the cluster is part of the result.
    func status() async throws(StoreError) -> ClusterStatus

    /// Whether a change of the record key has begun that has not ended.
    func isRekeying() async throws(StoreError) -> Bool

    /// Requests that this host be admitted.
    /// - Returns: the code, as it is shown, that its user carries to a host that is a member.
    /// - Throws: ``StoreError/denied(reason:)`` if the host is a member already, or if there is no cluster.
    func requestAdmission() async throws(StoreError) -> Secret

    /// - Parameter code: as a user typed it.
    /// - Returns: what the admitted host calls itself; `nil` if no host has requested this with the code.
    func admit(_ code: Secret) async throws(StoreError) -> String?

    /// Removes a host, and seals everything with a new key. The change of the key lasts until ``endKeyChange()``.
    func remove(_ host: ClusterMember) async throws(StoreError)

    /// Gives up all keys older than the last one that this process has made, unless another host has made a later one.
    func endKeyChange() async throws(StoreError)
}

/// A host of a cluster.
package struct ClusterMember: Sendable, Equatable {
    package let id: String
    /// What it calls itself.
    package let name: String
    package let isThis: Bool

    package init(id: String, name: String, isThis: Bool) {
        (self.id, self.name, self.isThis) = (id, name, isThis)
    }
}
