package import AuthWire

extension RenewalPause {
    /// All pauses as one JSON object, by session.
    package static func encode(_ pauses: [SessionName: RenewalPause]) -> [UInt8] {
        var object = JSONObject()
        for (session, pause) in pauses.sorted(by: { $0.key < $1.key }) {
            object[session.text] = [
                "failures": .integer(Int64(pause.failures)), "from": .number(pause.from.unixSeconds),
                "until": .number(pause.until.unixSeconds), "wanted": .bool(pause.isRequestedByProvider),
            ]
        }
        return JSON.object(object).serialized()
    }

    /// What cannot be understood is overlooked.
    package static func decode(_ bytes: [UInt8]) -> [SessionName: RenewalPause] {
        var pauses: [SessionName: RenewalPause] = [:]
        for (name, value) in (try? JSON(parsing: bytes))?.objectValue ?? JSONObject() {
            guard let session = try? SessionName(name), let failures = value["failures"]?.integerValue,
                (1...maxFailures).contains(failures), let from = value["from"]?.doubleValue,
                let until = value["until"]?.doubleValue, from.isFinite, until.isFinite,
                (0...longest.seconds).contains(until - from)
            else { continue }
            pauses[session] = RenewalPause(
                failures: Int(failures), from: WallTime(unixSeconds: from), until: WallTime(unixSeconds: until),
                isRequestedByProvider: value["wanted"]?.boolValue ?? false)
        }
        return pauses
    }

    /// More in a row say nothing more.
    private static let maxFailures: Int64 = 1_000_000
}
