import AuthModel
import AuthWire

/// The keys in etcd, all below the user's prefix.
///
/// ```
/// PREFIX/cluster            ClusterRecord: its hosts, and the record key wrapped for each of them
/// PREFIX/sessions/NAME      a session, sealed with the record key
/// PREFIX/keys/NAME          a client that a provider has registered, sealed in the same way
/// PREFIX/admissions/HOST    the request of a host that is not a member yet; it ends with its lease
/// PREFIX/holders/NAME       the host that renews a session now; it ends with that host's lease
/// PREFIX/lifetimes/NAME     ends with the access token: its lease shows how much of that is left
/// PREFIX/intents/NAME       RenewalIntent: what that host was about to send
/// PREFIX/history            EtcdHistory: a random value; it changes after etcd went back
/// PREFIX/signouts/NAME      FormerSignIns: the sign-ins that the last sign-out lists as ended, sealed like a session
/// PREFIX/status/HOST        HostReport: what a host says about itself, now or when it was last connected
/// PREFIX/up/HOST            ends with that host's lease: it is connected
/// ```
///
/// The last three come after the others, so that no host watches them. Only the next sign-in reads `signouts/`. Only
/// users look at `status/` and `up/`, which may have hundreds of keys.
struct EtcdPlaces: Sendable, Equatable {
    let prefix: String

    var cluster: String { prefix + "/cluster" }
    var history: String { prefix + "/history" }
    /// The range from ``cluster`` to here contains only these two keys.
    var historyEnd: [UInt8] { Array(history.utf8) + [0] }
    var sessions: String { prefix + "/sessions/" }
    var keys: String { prefix + "/keys/" }
    var admissions: String { prefix + "/admissions/" }
    var holders: String { prefix + "/holders/" }
    var intents: String { prefix + "/intents/" }
    var signOuts: String { prefix + "/signouts/" }
    var reports: String { prefix + "/status/" }
    var connections: String { prefix + "/up/" }
    /// What hosts follow: from here to ``watchedEnd``.
    var watched: String { prefix + "/" }
    var watchedEnd: [UInt8] { Self.end(of: sessions) }

    func session(_ name: SessionName) -> String { sessions + name.text }
    func key(_ purpose: KeyPurpose) -> String { keys + purpose.name }
    func admission(_ host: String) -> String { admissions + host }
    func holder(_ name: SessionName) -> String { holders + name.text }
    func lifetime(_ name: SessionName) -> String { prefix + "/lifetimes/" + name.text }
    func intent(_ name: SessionName) -> String { intents + name.text }
    func signOut(_ name: SessionName) -> String { signOuts + name.text }
    func report(_ host: String) -> String { reports + host }
    func connection(_ host: String) -> String { connections + host }

    /// The session of a key; `nil` if the key is not that of a session.
    func sessionName(of key: String) -> SessionName? { name(in: key, below: sessions) }

    /// The session that a key of a holder belongs to.
    func heldSession(of key: String) -> SessionName? { name(in: key, below: holders) }

    /// The host of a key below `start`.
    func host(of key: String, below start: String) -> String? {
        key.hasPrefix(start) ? String(key.dropFirst(start.count)) : nil
    }

    private func name(in key: String, below start: String) -> SessionName? {
        guard key.hasPrefix(start) else { return nil }
        return try? SessionName(String(key.dropFirst(start.count)))
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
