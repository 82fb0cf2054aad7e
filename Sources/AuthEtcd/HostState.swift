import AuthModel
import AuthSealedFile
import AuthWire

/// A cluster that this host has accepted: who is in it, with which keys, and the record that says so.
struct AcceptedCluster: Sendable, Equatable {
    let roster: ClusterRoster
    /// The newest first. Older ones stay, so that what was sealed with them can be read.
    let keys: [SealingKey]
    let record: ClusterRecord

    static func == (left: AcceptedCluster, right: AcceptedCluster) -> Bool {
        left.record == right.record && left.roster == right.roster && left.keys.map(\.id) == right.keys.map(\.id)
    }
}

/// What this host keeps on its own disk, sealed by its user's key: its identity, and the cluster that it belongs to.
///
/// The copy of the cluster is what an older one in etcd is recognized by, and what replaces it.
struct HostState: Sendable, Equatable {
    private static let format: Int64 = 1
    /// Runners of a CI farm may leave every day. Backups are rarely that old.
    private static let mostRemoved = 1000

    let key: HostKey
    let name: String
    var accepted: AcceptedCluster? {
        didSet {
            // What it knew of a cluster that it has left does not count any more.
            guard let accepted else { return removed = [] }
            let former = (oldValue?.roster.hosts ?? []).map(\.id).filter { !removed.contains($0) }
            let all = (removed + former).filter { accepted.roster.host($0) == nil }
            removed = all.suffix(Self.mostRemoved)
        }
    }
    /// IDs of hosts that this one has seen leave the cluster, the last ones at the end. A restored backup must not
    /// bring them back.
    private(set) var removed: [String] = []
    /// This host waits to be admitted.
    var code: AdmissionCode?

    static func == (left: HostState, right: HostState) -> Bool {
        left.key.secret == right.key.secret && left.name == right.name && left.accepted == right.accepted
            && left.code == right.code && left.removed == right.removed
    }

    var host: ClusterHost { ClusterHost(id: key.id, publicKey: key.publicKey, name: name) }

    init(key: HostKey, name: String) {
        self.key = key
        self.name = name
    }

    /// - Parameter place: of the cluster's record in etcd.
    init(_ content: Secret, place: String) throws(ClusterFault) {
        guard let json = try? JSON(parsing: content.revealBytes()), json["format"]?.integerValue == Self.format,
            let key = json["private"]?.stringValue.flatMap(Base64.decode).flatMap({ HostKey(Secret(bytes: $0)) }),
            let name = json["name"]?.stringValue
        else { throw .invalid(reason: "this host's own key is damaged") }
        self.init(key: key, name: name)
        code = json["code"]?.stringValue.flatMap { AdmissionCode($0) }
        removed = (json["removed"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard let bytes = json["record"]?.stringValue.flatMap(Base64.decode) else { return }
        let record = try ClusterRecord(bytes)
        let keys = (json["keys"]?.arrayValue ?? []).compactMap {
            $0.stringValue.flatMap(Base64.decode).flatMap { SealingKey(Secret(bytes: $0)) }
        }
        guard let roster = ClusterRoster(opening: record.roster, at: place, with: keys) else {
            throw .invalid(reason: "this host's copy of the cluster's record is damaged")
        }
        accepted = AcceptedCluster(roster: roster, keys: keys, record: record)
    }

    var content: Secret {
        var json: JSONObject = [
            "format": .integer(Self.format), "private": .string(Base64.encode(key.secret.revealBytes())),
            "name": .string(name),
        ]
        if let code { json["code"] = .string(code.secret.reveal()) }
        if !removed.isEmpty { json["removed"] = .array(removed.map { .string($0) }) }
        if let accepted {
            json["record"] = .string(Base64.encode(accepted.record.bytes))
            json["keys"] = .array(accepted.keys.map { .string(Base64.encode($0.secret.revealBytes())) })
        }
        return Secret(bytes: JSON.object(json).serialized())
    }
}

extension ClusterRoster {
    /// `nil` unless it was sealed with one of the keys, at this place.
    init?(opening sealed: [UInt8], at place: String, with keys: [SealingKey]) {
        guard let opened = try? SealedBytes.open(sealed, name: place, keys: keys) else { return nil }
        self.init(opened.content)
        guard opened.header.generation == epoch, opened.header.label == cluster else { return nil }
    }

    func sealed(at place: String, with key: SealingKey) throws(ClusterFault) -> [UInt8] {
        do throws(StoreError) {
            return try SealedBytes.seal(content, name: place, label: cluster, generation: epoch, key: key)
        } catch {
            throw .invalid(reason: error.reason)
        }
    }
}
