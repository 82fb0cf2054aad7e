import AuthModel
import AuthWire
import Synchronization

@testable import AuthEtcd

/// An etcd that holds the record of the cluster, and the mark of its history if that is set, at revision 7 or another
/// one.
final class OneKey: Sendable {
    private static let cluster = Base64.encode(Array("/p/cluster".utf8))
    private static let history = Base64.encode(Array("/p/history".utf8))
    private let value = Mutex<String?>(nil)
    private let mark = Mutex<String?>(nil)
    private let present = Mutex<Int64>(7)

    func setRevision(_ revision: Int64) { present.withLock { $0 = revision } }

    /// As another host does that has noticed that etcd went back.
    func setHistory(_ value: String) { mark.withLock { $0 = Base64.encode(Array(value.utf8)) } }

    func answer(_ path: String, _ body: JSON) throws(TransportError) -> (status: Int, body: String) {
        let revision = present.withLock { $0 }
        let header = #""header":{"cluster_id":"1","member_id":"1","revision":"\#(revision)"}"#
        let mark = Self.entry(Self.history, mark.withLock { $0 })
        switch path {
        case "kv/txn":
            for step in body["success"]?.arrayValue ?? [] {
                let put = step["request_put"]
                if put?["key"]?.stringValue == Self.history { self.mark.withLock { $0 = put?["value"]?.stringValue } }
            }
            let put = body["success"]?[0]?["request_put"]
            if put?["key"]?.stringValue == Self.cluster { value.withLock { $0 = put?["value"]?.stringValue } }
            let read = "{\"response_range\":{\(Self.list(mark))}}"
            return (200, "{\(header),\"succeeded\":true,\"responses\":[\(read)]}")
        case "kv/range":
            let (key, isAlone) = (body["key"]?.stringValue, body["range_end"] == nil)
            let cluster = key == Self.cluster ? Self.entry(Self.cluster, value.withLock { $0 }) : []
            let hasMark = key == Self.history || key == Self.cluster && !isAlone
            return (200, "{\(header),\(Self.list(cluster + (hasMark ? mark : [])))}")
        default: return (200, "{\(header)}")
        }
    }

    private static func entry(_ key: String, _ value: String?) -> [String] {
        value.map { ["{\"key\":\"\(key)\",\"mod_revision\":\"6\",\"value\":\"\($0)\"}"] } ?? []
    }

    private static func list(_ entries: [String]) -> String { "\"kvs\":[\(entries.joined(separator: ","))]" }
}

/// What stays on a host, in memory.
final class MemoryLocal: KeyStore, SealedStore {
    private let keys = Mutex<[KeyPurpose: Secret]>([:])

    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { keys.withLock { $0[purpose] } }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        keys.withLock { $0[purpose] = key }
    }
    func unlock(with passphrase: Secret?) async throws(SealRefusal) {}
    func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {}
    func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {}
}
