import AuthModel
import AuthWire

/// The keys in etcd, all below the user's prefix.
///
/// ```
/// PREFIX/cluster            ClusterRecord: its hosts, and the record key wrapped for each of them
/// PREFIX/sessions/NAME      a session, sealed with the record key
/// PREFIX/keys/NAME          a client that a provider has registered, sealed in the same way
/// PREFIX/admissions/HOST    the request of a host that is not a member yet; it ends with its lease
/// ```
/// Reserved for what hosts do together: `PREFIX/holders/NAME`, `PREFIX/intents/NAME`, `PREFIX/agents/HOST`.
struct EtcdPlaces: Sendable, Equatable {
    let prefix: String

    var cluster: String { prefix + "/cluster" }
    var sessions: String { prefix + "/sessions/" }
    var keys: String { prefix + "/keys/" }
    var admissions: String { prefix + "/admissions/" }
    /// Everything.
    var all: String { prefix + "/" }

    func session(_ name: SessionName) -> String { sessions + name.text }
    func key(_ purpose: KeyPurpose) -> String { keys + purpose.name }
    func admission(_ host: String) -> String { admissions + host }

    /// The session of a key; `nil` if the key is not that of a session.
    func sessionName(of key: String) -> SessionName? {
        guard key.hasPrefix(sessions) else { return nil }
        return try? SessionName(String(key.dropFirst(sessions.count)))
    }

    /// What all keys that begin with `start` are less than (etcd, "range_end").
    static func end(of start: String) -> [UInt8] {
        var bytes = Array(start.utf8)
        while let last = bytes.popLast() {
            if last < .max { return bytes + [last + 1] }
        }
        return [0]
    }
}
