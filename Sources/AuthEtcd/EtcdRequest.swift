import AuthWire

/// A request to etcd's JSON gateway (etcd, "gRPC gateway"): the path and the body of a POST. Keys and values are base64, and
/// 64-bit numbers are strings.
struct EtcdRequest: Sendable {
    /// After `/v3/`.
    let path: String
    let body: JSON
    /// Bytes of the response. Only ranges are long.
    var largestReply = 1 << 20
    /// Whether it needs no token, and no majority of the members.
    var isLocal = false
    /// Whether its response has the newest state of etcd, not the one that a member has reached.
    var showsState: Bool { path.hasPrefix("kv/") }

    /// - Parameter atMost: entries; the rest is read with another request.
    static func range(
        _ key: String, end: [UInt8]? = nil, atMost limit: Int = 0, keysOnly: Bool = false
    ) -> EtcdRequest {
        EtcdRequest(
            path: "kv/range", body: rangeBody(key, end: end, limit: limit, keysOnly: keysOnly),
            largestReply: EtcdLimits.rangeBytes)
    }

    /// Puts the value if the conditions hold, otherwise reads.
    static func put(
        _ value: [UInt8], to key: String, if conditions: [Condition], lease: Int64? = nil,
        otherwiseReading keys: [String]
    ) -> EtcdRequest {
        transaction(conditions, then: [.put(value, to: key, lease: lease)], otherwiseReading: keys)
    }

    static func delete(
        _ key: String, if conditions: [Condition], otherwiseReading keys: [String]
    ) -> EtcdRequest {
        transaction(conditions, then: [.delete(key)], otherwiseReading: keys)
    }

    /// One step of a transaction. A step sees what the ones before it have done.
    enum Operation: Sendable {
        case read(String)
        /// The entries whose keys begin with this.
        case readAll(below: String)
        /// The keys that begin with this, one more than this agent can hold.
        case readKeys(below: String)
        /// The keys up to `end` that have changed since a revision. Keys that are gone are not among them.
        case readChanged(from: String, end: [UInt8], since: Int64)
        case put([UInt8], to: String, lease: Int64? = nil)
        case delete(String)

        fileprivate var json: JSON {
            switch self {
            case .read(let key): return ["request_range": rangeBody(key)]
            case .readAll(let start): return ["request_range": rangeBody(start, end: EtcdPlaces.end(of: start))]
            case .readKeys(let start):
                let end = EtcdPlaces.end(of: start)
                return ["request_range": rangeBody(start, end: end, limit: EtcdLimits.sessions + 1, keysOnly: true)]
            case .readChanged(let start, let end, let revision):
                var body = rangeBody(start, end: end, limit: EtcdLimits.sessions, keysOnly: true).objectValue ?? [:]
                body["min_mod_revision"] = number(revision + 1)
                return ["request_range": .object(body)]
            case .delete(let key): return ["request_delete_range": ["key": encoded(key)]]
            case .put(let value, let key, let lease):
                var put: JSONObject = ["key": encoded(key), "value": .string(Base64.encode(value))]
                if let lease { put["lease"] = number(lease) }
                return ["request_put": .object(put)]
            }
        }
    }

    /// What must hold for a write.
    enum Condition: Sendable, Equatable {
        /// The last change of the key; 0 if it must not exist.
        case changed(key: String, at: Int64)
        case has(key: String, value: [UInt8])

        fileprivate var json: JSON {
            switch self {
            case .has(let key, let value):
                ["key": encoded(key), "target": "VALUE", "result": "EQUAL", "value": .string(Base64.encode(value))]
            case .changed(let key, let revision):
                ["key": encoded(key), "target": "MOD", "result": "EQUAL", "mod_revision": number(revision)]
            }
        }
    }

    static func transaction(
        _ conditions: [Condition], then operations: [Operation], otherwiseReading keys: [String]
    ) -> EtcdRequest {
        EtcdRequest(
            path: "kv/txn",
            body: [
                "compare": .array(conditions.map(\.json)), "success": .array(operations.map(\.json)),
                "failure": .array(keys.map { Operation.read($0).json }),
            ], largestReply: EtcdLimits.rangeBytes)
    }

    // MARK: Leases, users, members

    static func grantLease(seconds: Int64) -> EtcdRequest {
        EtcdRequest(path: "lease/grant", body: ["TTL": number(seconds)])
    }

    static func keepAlive(_ lease: Int64) -> EtcdRequest {
        EtcdRequest(path: "lease/keepalive", body: ["ID": number(lease)])
    }

    /// How long it still lasts; less than 1: it has ended.
    static func timeToLive(of lease: Int64) -> EtcdRequest {
        EtcdRequest(path: "lease/timetolive", body: ["ID": number(lease)])
    }

    static func authenticate(_ user: String, _ password: String) -> EtcdRequest {
        EtcdRequest(
            path: "auth/authenticate", body: ["name": .string(user), "password": .string(password)], isLocal: true)
    }

    /// What one member knows of the others.
    static let status = EtcdRequest(path: "maintenance/status", body: [:], isLocal: true)

    /// The members, as the one that answers knows them: without a majority, too.
    static let members = EtcdRequest(path: "cluster/member/list", body: [:])

    // MARK: Watch

    /// - Parameter revision: the first one of interest.
    static func watch(_ start: String, to end: [UInt8], from revision: Int64) -> EtcdRequest {
        EtcdRequest(
            path: "watch",
            body: [
                "create_request": [
                    "key": encoded(start), "range_end": .string(Base64.encode(end)),
                    "start_revision": number(revision), "fragment": true, "progress_notify": true,
                ]
            ])
    }

    // MARK: Coding

    private static func rangeBody(
        _ key: String, end: [UInt8]? = nil, limit: Int = 0, keysOnly: Bool = false
    ) -> JSON {
        var body: JSONObject = ["key": encoded(key)]
        if let end { body["range_end"] = .string(Base64.encode(end)) }
        if limit > 0 { body["limit"] = number(Int64(limit)) }
        if keysOnly { body["keys_only"] = true }
        return .object(body)
    }

    private static func encoded(_ key: String) -> JSON { .string(Base64.encode(Array(key.utf8))) }

    private static func number(_ value: Int64) -> JSON { .string(String(value)) }
}

/// What a member of etcd may make this agent hold or wait for.
enum EtcdLimits {
    /// Bytes of one request, which etcd refuses above 1.5 MiB (`--max-request-bytes`): value, keys and what surrounds them.
    static let requestBytes = 3 << 19
    /// For the keys and conditions of a transaction.
    static let overheadBytes = 4 << 10
    /// Bytes of a response with one value of the largest size, in base64, twice.
    static let rangeBytes = 5 << 20
    /// Entries of one range. If they are together too long, fewer are read at a time.
    static let rangeEntries = 64
    /// Sessions, as the agent has to hold all of them.
    static let sessions = 4096
    /// Bytes of all entries that are read together.
    static let readBytes = 64 << 20
    /// Bytes of one message of a watch: etcd splits longer ones at 1.5 MiB and 512 KiB, before base64.
    static let watchLine = 4 << 20
    /// JSON values of one response.
    static let jsonValues = 200_000
    /// For a call with all its attempts, as for other stores.
    static let call = Duration.seconds(5)
    /// For one attempt: an election of a new leader takes 1 to 2 s.
    static let attempt = Duration.milliseconds(2000)
    /// For the status of one member, after calls have failed.
    static let status = Duration.seconds(1)
    /// After the last failure of a member, before a host uses its preferred member again: by then, a rolling update of
    /// etcd has ended.
    static let goBack = Duration.seconds(600)
    /// Between two attempts while the members elect a leader.
    static let retryPause = Duration.milliseconds(100)
    /// Attempts to write a record that other hosts change at the same time.
    static let writeAttempts = 32
    /// For what users look at: one member may hang, and another one answers.
    static let view = Duration.seconds(3)
    /// How long a host that no longer responds keeps its holds.
    static let leaseSeconds: Int64 = 10
    /// A token that lives longer has no lease: etcd's leases last 285 years at most, and this agent does not run that long.
    static let longestLifetime = Duration.seconds(100_000_000)
    /// How long a write waits for another host that renews the session.
    static let holderWait = Duration.seconds(4)
    /// Between two attempts then: the shortest pause, so that hosts which release a session one after the other do not cause as
    /// many attempts by each of the others, and what follows unless the watch reports a change.
    static let shortestHolderPause = Duration.milliseconds(30)
    static let holderPause = Duration.milliseconds(200)
    /// How long a host that notices that etcd went back expects requests of others, of which etcd knows nothing any more: the
    /// limit of a renewal, and the time to write its result (`LeaseMachine.longestResult`).
    static let recovery = Duration.seconds(45)
    /// A host that has not read the mark of etcd's history for longer than this may not know of a sign-out before the
    /// restore.
    static let longestSilence = Duration.seconds(60)
    /// How long a host that is awake repeats sign-outs after a restore: until every other host has read the mark and written
    /// again.
    static let removing = Duration.seconds(90)
    /// How long etcd keeps the list that a sign-out leaves: 7 days. After that, the restore of a backup from before the
    /// sign-out is unlikely. The time begins again when the leader of etcd changes.
    static let signOutSeconds: Int64 = 7 * 24 * 3600
    /// How long the request of a host to be admitted is valid.
    static let admissionSeconds: Int64 = 600
}
