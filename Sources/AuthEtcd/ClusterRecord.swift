import AuthModel
import AuthSealedFile
import AuthWire

/// A host of a cluster, as the others know it.
struct ClusterHost: Sendable, Equatable {
    /// From its public key.
    let id: String
    let publicKey: [UInt8]
    /// What its user calls it; not trusted.
    let name: String

    init(id: String, publicKey: [UInt8], name: String) {
        self.id = id
        self.publicKey = publicKey
        self.name = name
    }

    fileprivate init?(_ json: JSON) {
        guard let key = json["public"]?.stringValue.flatMap(Base64.decode), let name = json["name"]?.stringValue else {
            return nil
        }
        self.init(id: HostKey.id(of: key), publicKey: key, name: name)
    }

    fileprivate var json: JSON { ["public": .string(Base64.encode(publicKey)), "name": .string(name)] }
}

/// The hosts of a cluster and its record keys, as one of the hosts has written them down: sealed with the newest key, so only a
/// host of the cluster can have written it.
struct ClusterRoster: Sendable, Equatable {
    let cluster: String
    /// Grows with each change of hosts or keys.
    let epoch: UInt64
    /// The newest first. There are two while records are sealed again.
    var keyIDs: [String]
    var hosts: [ClusterHost]
    /// By ID of a key that was given up: the state of etcd after which no host has sealed anything with it.
    var formerUntil: [String: Int64]

    /// To be changed, for the next record.
    var next: ClusterRoster {
        ClusterRoster(cluster: cluster, epoch: epoch + 1, keyIDs: keyIDs, hosts: hosts, formerUntil: formerUntil)
    }

    func host(_ id: String) -> ClusterHost? { hosts.first { $0.id == id } }

    init(cluster: String, epoch: UInt64, keyIDs: [String], hosts: [ClusterHost], formerUntil: [String: Int64] = [:]) {
        self.cluster = cluster
        self.epoch = epoch
        self.keyIDs = keyIDs
        self.hosts = hosts
        self.formerUntil = formerUntil
    }

    init?(_ content: Secret) {
        guard let json = try? JSON(parsing: content.revealBytes()), let cluster = json["cluster"]?.stringValue,
            let epoch = json["epoch"]?.integerValue.flatMap({ UInt64(exactly: $0) }),
            let keyIDs = json["keys"]?.arrayValue?.compactMap(\.stringValue), !keyIDs.isEmpty,
            let list = json["hosts"]?.arrayValue
        else { return nil }
        let hosts = list.compactMap { ClusterHost($0) }
        guard hosts.count == list.count else { return nil }
        self.init(
            cluster: cluster, epoch: epoch, keyIDs: keyIDs, hosts: hosts,
            formerUntil: Self.revisions(json["former_until"]))
    }

    private static func revisions(_ json: JSON?) -> [String: Int64] {
        var revisions: [String: Int64] = [:]
        for (key, value) in json?.objectValue ?? JSONObject() { revisions[key] = value.integerValue }
        return revisions
    }

    /// Nothing has been sealed with these keys after that state of etcd. After a restored backup it is an earlier one.
    mutating func giveUp(_ keys: some Sequence<String>, at revision: Int64) {
        for key in keys {
            let isKnown = formerUntil[key] != nil || keyIDs.contains(key)
            guard isKnown || formerUntil.count < Self.mostFormer else { continue }
            formerUntil[key] = min(formerUntil[key] ?? revision, revision)
        }
        guard formerUntil.count > Self.mostFormer else { return }
        // Records may still be sealed with the listed keys.
        let oldest = formerUntil.filter { !keyIDs.contains($0.key) }.sorted { $0.value < $1.value }
        for (key, _) in oldest.prefix(formerUntil.count - Self.mostFormer) { formerUntil[key] = nil }
    }

    /// The state of etcd after which nothing was sealed with this key; `nil`: it is not known.
    func lastUse(of key: String) -> Int64? {
        if let revision = formerUntil[key] { return revision }
        // If the list is full, any other key is one that was left out of it.
        return keyIDs.contains(key) || formerUntil.count < Self.mostFormer ? nil : 0
    }

    /// Keys that were given up, of which it is known when: the key rarely changes.
    private static let mostFormer = 64

    var content: Secret {
        var json: JSONObject = [
            "cluster": .string(cluster), "epoch": JSON(epoch), "keys": .array(keyIDs.map { .string($0) }),
            "hosts": .array(hosts.map(\.json)),
        ]
        if !formerUntil.isEmpty {
            var revisions = JSONObject()
            for (key, revision) in formerUntil.sorted(by: { $0.key < $1.key }) { revisions[key] = .integer(revision) }
            json["former_until"] = .object(revisions)
        }
        return Secret(bytes: JSON.object(json).serialized())
    }
}

/// A record key, wrapped for one host by another one.
struct WrappedKey: Sendable, Equatable {
    let host: String
    let key: String
    /// The host that wrapped it.
    let by: String
    /// The public key of that host. It is trusted only if it is known otherwise.
    let byPublicKey: [UInt8]
    /// HPKE's encapsulated key, and the ciphertext.
    let encapsulated: [UInt8]
    let sealed: [UInt8]
    /// Wrapped with the code of an admission, too.
    let isAdmission: Bool
}

/// The value of ``EtcdPlaces/cluster``, not verified yet.
struct ClusterRecord: Sendable, Equatable {
    static let format: Int64 = 1

    /// Former keys and rosters that a record keeps.
    static let formerKeys = 8
    /// A record with more bytes keeps fewer: with 1,000 hosts, one key takes 330 KB.
    static let mostBytes = 512 << 10

    let cluster: String
    let epoch: UInt64
    /// Those of former keys come first.
    private(set) var wrapped: [WrappedKey]
    /// ``ClusterRoster``, sealed with the newest key.
    let roster: [UInt8]
    /// The roster before each key, sealed with the key before; the newest first. They tell a host that was not there since
    /// then which other hosts may have wrapped the next key (``RecordKeys``).
    private(set) var formerRosters: [[UInt8]]

    var bytes: [UInt8] {
        var json: JSONObject = [
            "format": .integer(Self.format), "cluster": .string(cluster), "epoch": JSON(epoch),
            "wrapped": .array(wrapped.map(\.json)), "roster": .string(Base64.encode(roster)),
        ]
        if let former = formerRosters.first { json["former_roster"] = .string(Base64.encode(former)) }
        if formerRosters.count > 1 {
            json["earlier_rosters"] = .array(formerRosters.dropFirst().map { .string(Base64.encode($0)) })
        }
        return JSON.object(json).serialized()
    }

    init(cluster: String, epoch: UInt64, wrapped: [WrappedKey], roster: [UInt8], formerRosters: [[UInt8]]) {
        self.cluster = cluster
        self.epoch = epoch
        self.wrapped = wrapped
        self.roster = roster
        self.formerRosters = formerRosters
    }

    /// Without the former keys and rosters that are too many.
    /// - Parameter current: the keys that records may be sealed with.
    func bounded(current: [String]) -> ClusterRecord {
        var record = self
        var former: [String] = []
        for key in wrapped.map(\.key) where !current.contains(key) && !former.contains(key) { former.append(key) }
        record.formerRosters = Array(formerRosters.prefix(Self.formerKeys))
        while let oldest = former.first, former.count > Self.formerKeys || record.bytes.count > Self.mostBytes {
            record.wrapped.removeAll { $0.key == oldest }
            former.removeFirst()
            // The newest one leads from the key before to the present one.
            if record.formerRosters.count > 1, record.bytes.count > Self.mostBytes { record.formerRosters.removeLast() }
        }
        return record
    }

    init(_ bytes: [UInt8]) throws(ClusterFault) {
        let json = try? JSON(parsing: bytes, values: EtcdLimits.jsonValues)
        guard let json, json["format"]?.integerValue == Self.format else {
            throw .invalid(reason: "the record of the cluster has a format that this authd does not know")
        }
        guard let cluster = json["cluster"]?.stringValue,
            let epoch = json["epoch"]?.integerValue.flatMap({ UInt64(exactly: $0) }),
            let roster = json["roster"]?.stringValue.flatMap(Base64.decode), let list = json["wrapped"]?.arrayValue
        else { throw .invalid(reason: "the record of the cluster is damaged") }
        let wrapped = list.compactMap { WrappedKey($0) }
        guard wrapped.count == list.count else { throw .invalid(reason: "the record of the cluster is damaged") }
        let former = [json["former_roster"]].compactMap(\.self) + (json["earlier_rosters"]?.arrayValue ?? [])
        self.init(
            cluster: cluster, epoch: epoch, wrapped: wrapped, roster: roster,
            formerRosters: former.compactMap { $0.stringValue.flatMap(Base64.decode) })
    }
}

extension WrappedKey {
    fileprivate init?(_ json: JSON) {
        func bytes(_ key: String) -> [UInt8]? { json[key]?.stringValue.flatMap(Base64.decode) }
        guard let host = json["host"]?.stringValue, let key = json["key"]?.stringValue,
            let by = json["by"]?.stringValue,
            let byPublicKey = bytes("by_public"), let encapsulated = bytes("encapsulated"), let sealed = bytes("sealed")
        else { return nil }
        self.init(
            host: host, key: key, by: by, byPublicKey: byPublicKey, encapsulated: encapsulated, sealed: sealed,
            isAdmission: json["admission"]?.boolValue ?? false)
    }

    fileprivate var json: JSON {
        func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encode(bytes)) }
        var json: JSONObject = [
            "host": .string(host), "key": .string(key), "by": .string(by), "by_public": text(byPublicKey),
            "encapsulated": text(encapsulated), "sealed": text(sealed),
        ]
        if isAdmission { json["admission"] = true }
        return .object(json)
    }
}
