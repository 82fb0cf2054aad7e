import AuthModel
import AuthWire
import Synchronization

@testable import AuthEtcd

/// An etcd that holds the record of the cluster and nothing else, at revision 7 or as it is set.
final class OneKey: Sendable {
    private static let cluster = Base64.encode(Array("/p/cluster".utf8))
    private let value = Mutex<String?>(nil)
    private let present = Mutex<Int64>(7)

    func setRevision(_ revision: Int64) { present.withLock { $0 = revision } }

    func answer(_ path: String, _ body: JSON) throws(TransportError) -> (status: Int, body: String) {
        let revision = present.withLock { $0 }
        let header = #""header":{"cluster_id":"1","member_id":"1","revision":"\#(revision)"}"#
        switch path {
        case "kv/txn":
            let put = body["success"]?[0]?["request_put"]
            if put?["key"]?.stringValue == Self.cluster { value.withLock { $0 = put?["value"]?.stringValue } }
            return (200, "{\(header),\"succeeded\":true}")
        case "kv/range":
            let key = Self.cluster
            guard body["key"]?.stringValue == key, let value = value.withLock({ $0 }) else {
                return (200, "{\(header)}")
            }
            return (200, "{\(header),\"kvs\":[{\"key\":\"\(key)\",\"mod_revision\":\"6\",\"value\":\"\(value)\"}]}")
        default: return (200, "{\(header)}")
        }
    }
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
