import AuthModel
import AuthWire

/// The state of etcd that a response belongs to.
struct EtcdHeader: Sendable, Equatable {
    let clusterID: String
    let revision: Int64

    init(clusterID: String, revision: Int64) {
        self.clusterID = clusterID
        self.revision = revision
    }

    init(_ json: JSON) throws(ClusterFault) {
        // A number that is 0 is left out.
        guard let header = json["header"], header.objectValue != nil,
            let revision = (header["revision"] ?? 0).etcdCount
        else {
            throw .invalid(reason: "a response without its revision")
        }
        clusterID = header["cluster_id"]?.stringValue ?? ""
        self.revision = revision
    }
}

struct EtcdEntry: Sendable, Equatable {
    let key: String
    /// Empty if only keys were requested.
    let value: [UInt8]
    let modRevision: Int64
    /// The lease that it hangs on; 0: none.
    let lease: Int64

    init(key: String, value: [UInt8], modRevision: Int64, lease: Int64 = 0) {
        self.key = key
        self.value = value
        self.modRevision = modRevision
        self.lease = lease
    }

    init(_ json: JSON) throws(ClusterFault) {
        guard let bytes = json["key"]?.stringValue.flatMap(Base64.decode),
            let key = String(validating: bytes, as: UTF8.self), let revision = json["mod_revision"]?.etcdCount,
            let value = Base64.decode(json["value"]?.stringValue ?? "")
        else { throw .invalid(reason: "an entry that is not one") }
        self.init(key: key, value: value, modRevision: revision, lease: json["lease"]?.etcdNumber ?? 0)
    }
}

struct EtcdRange: Sendable, Equatable {
    let header: EtcdHeader
    let entries: [EtcdEntry]
    /// There are more entries than were requested.
    let isPartial: Bool

    init(_ json: JSON) throws(ClusterFault) {
        header = try EtcdHeader(json)
        entries = try json.entries()
        isPartial = json["more"]?.boolValue ?? false
    }
}

struct EtcdTransaction: Sendable, Equatable {
    let header: EtcdHeader
    /// Whether the conditions held.
    let succeeded: Bool
    /// What each of its reads has found, in their order.
    let reads: [[EtcdEntry]]
    /// The same by key. A key that is missing does not exist.
    let entries: [String: EtcdEntry]

    init(_ json: JSON) throws(ClusterFault) {
        header = try EtcdHeader(json)
        guard let succeeded = (json["succeeded"] ?? false).boolValue else {
            throw .invalid(reason: "a transaction without its outcome")
        }
        self.succeeded = succeeded
        var reads: [[EtcdEntry]] = []
        for response in try json.list("responses") {
            if let range = response["response_range"] { reads.append(try range.entries()) }
        }
        self.reads = reads
        entries = Dictionary(reads.joined().map { ($0.key, $0) }) { _, last in last }
    }
}

/// A line of a watch.
enum WatchMessage: Sendable, Equatable {
    case created(EtcdHeader)
    case changes(EtcdHeader, [WatchChange])
    /// The watch has ended.
    case cancelled(ClusterFault)

    init(_ line: JSON) throws(ClusterFault) {
        if let error = line["error"] {
            self = .cancelled(EtcdRefusal(status: 0, error).watchFault)
            return
        }
        guard let result = line["result"] else { throw .invalid(reason: "a message of a watch that is not one") }
        if result["canceled"]?.boolValue ?? false {
            let isCompacted = result["compact_revision"]?.etcdNumber ?? 0 > 0
            let reason = result["cancel_reason"]?.stringValue ?? ""
            self = .cancelled(
                isCompacted ? .compacted : EtcdRefusal(status: 0, ["message": .string(reason)]).watchFault)
            return
        }
        let header = try EtcdHeader(result)
        if result["created"]?.boolValue ?? false {
            self = .created(header)
            return
        }
        var changes: [WatchChange] = []
        for event in try result.list("events") {
            guard let entry = event["kv"] else { throw .invalid(reason: "a change without its entry") }
            changes.append(
                WatchChange(entry: try EtcdEntry(entry), isDeletion: event["type"]?.stringValue == "DELETE"))
        }
        self = .changes(header, changes)
    }
}

struct WatchChange: Sendable, Equatable {
    let entry: EtcdEntry
    let isDeletion: Bool
}

extension JSON {
    /// A 64-bit number is a string in the gateway's JSON, and missing if it is 0.
    var etcdNumber: Int64? { integerValue ?? stringValue.flatMap { Int64($0) } }

    /// A counter of etcd, such as a revision: not negative, and less than the largest number.
    var etcdCount: Int64? { etcdNumber.flatMap { (0..<Int64.max).contains($0) ? $0 : nil } }

    /// The lease of a response.
    func leaseID() -> Int64? { (self["result"] ?? self)["ID"]?.etcdNumber }

    /// The seconds that a lease has left; 0 if it has ended.
    func leaseSeconds() -> Int64 { (self["result"] ?? self)["TTL"]?.etcdNumber ?? 0 }

    /// A list without elements is left out.
    func list(_ key: String) throws(ClusterFault) -> [JSON] {
        guard let list = (self[key] ?? []).arrayValue else { throw .invalid(reason: "\(key) that is not a list") }
        return list
    }

    fileprivate func entries() throws(ClusterFault) -> [EtcdEntry] {
        var entries: [EtcdEntry] = []
        for entry in try list("kvs") { entries.append(try EtcdEntry(entry)) }
        return entries
    }
}
