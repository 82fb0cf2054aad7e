import AuthModel
import AuthWire

/// What a member knows of itself and its cluster (etcd, "maintenance/status").
struct EtcdStatus: Sendable, Equatable {
    let clusterID: String
    let memberID: String
    let version: String
    /// The member that it takes for the leader; `nil`: none.
    let leaderID: String?
    let term: Int64?
    let index: Int64?
    /// The last index that it has applied; only since etcd 3.4.
    let appliedIndex: Int64?
    let bytes: Int64?
    let usedBytes: Int64?
    /// Names of alarms, such as `NOSPACE`.
    let alarms: [String]

    init(_ json: JSON) {
        func identifier(_ value: JSON?) -> String? {
            guard let text = value?.stringValue, text != "", text != "0" else { return nil }
            return text
        }
        clusterID = identifier(json["header"]?["cluster_id"]) ?? ""
        memberID = identifier(json["header"]?["member_id"]) ?? ""
        version = json["version"]?.stringValue ?? ""
        leaderID = identifier(json["leader"])
        (term, index) = (json["raftTerm"]?.etcdCount, json["raftIndex"]?.etcdCount)
        appliedIndex = json["raftAppliedIndex"]?.etcdCount
        (bytes, usedBytes) = (json["dbSize"]?.etcdCount, json["dbSizeInUse"]?.etcdCount)
        let errors = (json["errors"]?.arrayValue ?? []).compactMap(\.stringValue)
        // Each is the text of an alarm: "memberID:1 alarm:NOSPACE ".
        alarms = Self.names.filter { name in errors.contains { $0.contains("alarm:" + name) } }
    }

    /// etcd, `AlarmType`.
    private static let names = [noSpace, "CORRUPT"]
    private static let noSpace = "NOSPACE"

    var hasLeader: Bool { leaderID != nil }
    var isOutOfSpace: Bool { alarms.contains(Self.noSpace) }
}

/// The members of a cluster of etcd.
struct EtcdMemberList: Sendable, Equatable {
    /// By their numbers; a member that has not started yet has no name.
    let names: [String: String]
    let voters: Int

    init(_ json: JSON) throws(ClusterFault) {
        var names: [String: String] = [:]
        var voters = 0
        for member in try json.list("members") {
            guard let id = member["ID"]?.stringValue else { throw .invalid(reason: "a member without a number") }
            if let name = member["name"]?.stringValue, !name.isEmpty { names[id] = name }
            if member["isLearner"]?.boolValue != true { voters += 1 }
        }
        (self.names, self.voters) = (names, voters)
    }
}
