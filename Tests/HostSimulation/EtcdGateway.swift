import AuthModel
import AuthWire

/// etcd's JSON gateway, as far as `EtcdStore` uses it.
extension EtcdDatabase {
    /// - Returns: the status and body of the HTTP response.
    mutating func answer(_ path: String, _ body: JSON, at now: Duration, fault: HostInjectedFault?) -> (Int, JSON) {
        switch path {
        case "kv/range": return (200, .object(range(body)))
        case "kv/txn":
            let former = self
            do throws(Failure) {
                return (200, try transaction(body, fault))
            } catch {
                self = former
                return (404, ["code": 5, "message": "etcdserver: requested lease not found"])
            }
        case "lease/grant":
            let seconds = body["TTL"]?.wholeNumber ?? 0
            let lease = grant(.seconds(seconds), at: now)
            return (200, ["header": header, "ID": .number64(lease), "TTL": .number64(seconds)])
        case "lease/keepalive":
            let lease = body["ID"]?.wholeNumber ?? 0
            let seconds = keep(lease, at: now)?.components.seconds ?? 0
            return (200, ["result": ["header": header, "ID": .number64(lease), "TTL": .number64(seconds)]])
        case "lease/timetolive":
            let left = leases[body["ID"]?.wholeNumber ?? 0].map { max(0, ($0.end - now).components.seconds) } ?? -1
            return (200, ["header": header, "ID": body["ID"] ?? "0", "TTL": .number64(left)])
        case "maintenance/status": return (200, ["header": header, "version": "3.5.17", "leader": "1"])
        default: return (404, ["code": 12, "message": .string("\(path) is not simulated")])
        }
    }

    var header: JSON { ["cluster_id": .number64(Int64(clusterID)), "revision": .number64(revision)] }

    private func range(_ body: JSON) -> JSONObject {
        let start = body["key"]?.text ?? ""
        var found = body["range_end"]?.bytes.map { keys(from: start, to: $0) } ?? (entries[start] == nil ? [] : [start])
        if let least = body["min_mod_revision"]?.wholeNumber {
            found = found.filter { entries[$0]?.revision ?? 0 >= least }
        }
        let limit = Int(body["limit"]?.wholeNumber ?? 0)
        let isPartial = limit > 0 && found.count > limit
        if isPartial { found = Array(found.prefix(limit)) }
        let isShort = body["keys_only"]?.boolValue ?? false
        let kvs = found.compactMap { key in entries[key].map { Self.json(key, $0, keyOnly: isShort) } }
        return ["header": header, "kvs": .array(kvs), "more": .bool(isPartial)]
    }

    private mutating func transaction(_ body: JSON, _ fault: HostInjectedFault?) throws(Failure) -> JSON {
        var holds = (body["compare"]?.arrayValue ?? []).allSatisfy { condition in
            let key = condition["key"]?.text ?? ""
            if fault == .sharesHolds, Self.isHolder(key) || key.contains("/intents/") { return true }
            if condition["target"]?.stringValue == "VALUE" {
                return entries[key].map { $0.value == condition["value"]?.bytes } ?? false
            }
            return entries[key]?.revision ?? 0 == condition["mod_revision"]?.wholeNumber ?? 0
        }
        if fault == .refusesHosts, (body["success"]?.arrayValue ?? []).contains(where: Self.putsHostList) {
            holds = false
        }
        var responses: [JSON] = []
        var isFirst = true
        for step in body[holds ? "success" : "failure"]?.arrayValue ?? [] {
            if let read = step["request_range"] {
                responses.append(["response_range": .object(range(read))])
            } else if let put = step["request_put"] {
                let key = put["key"]?.text ?? ""
                if fault == .losesSessions, Self.isSession(key) { continue }
                if fault == .losesMarks, Self.isMark(key) { continue }
                if fault == .losesSignOuts, Self.isSignOut(key) { continue }
                try self.put(
                    put["value"]?.bytes ?? [], to: key, lease: put["lease"]?.wholeNumber ?? 0, isFirst: isFirst)
                isFirst = false
                responses.append(["response_put": [:]])
            } else if let key = step["request_delete_range"]?["key"]?.text {
                if fault == .keepsSessions, Self.isSession(key) { continue }
                if fault == .keepsHolds, Self.isHolder(key) { continue }
                if delete(key, isFirst: isFirst) { isFirst = false }
                responses.append(["response_delete_range": [:]])
            }
        }
        return ["header": header, "succeeded": .bool(holds), "responses": .array(responses)]
    }

    private static func putsHostList(_ step: JSON) -> Bool {
        step["request_put"]?["key"]?.text.map(isHostList) ?? false
    }

    /// A line of a watch.
    func line(of changes: [Change]) -> [UInt8] {
        let events = changes.map { change -> JSON in
            guard let entry = change.entry else {
                let kv: JSON = ["key": .encoded(Array(change.key.utf8)), "mod_revision": .number64(change.revision)]
                return ["type": "DELETE", "kv": kv]
            }
            return ["kv": Self.json(change.key, entry, keyOnly: false)]
        }
        let state: JSON = [
            "cluster_id": .number64(Int64(clusterID)), "revision": .number64(changes.last?.revision ?? revision),
        ]
        return JSON.object(["result": ["header": state, "events": .array(events)]]).serialized() + [UInt8(ascii: "\n")]
    }

    var createdLine: [UInt8] {
        JSON.object(["result": ["header": header, "created": true]]).serialized() + [UInt8(ascii: "\n")]
    }

    private static func json(_ key: String, _ entry: Entry, keyOnly: Bool) -> JSON {
        var json: JSONObject = ["key": .encoded(Array(key.utf8)), "mod_revision": .number64(entry.revision)]
        if !keyOnly { json["value"] = .encoded(entry.value) }
        if entry.lease != 0 { json["lease"] = .number64(entry.lease) }
        return .object(json)
    }
}

extension JSON {
    /// A 64-bit number is a string in the gateway's JSON.
    var wholeNumber: Int64? { integerValue ?? stringValue.flatMap { Int64($0) } }
    var bytes: [UInt8]? { stringValue.flatMap { Base64.decode($0) } }
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    fileprivate static func number64(_ value: Int64) -> JSON { .string(String(value)) }
    fileprivate static func encoded(_ bytes: [UInt8]) -> JSON { .string(Base64.encode(bytes)) }
}
