package import AuthWire

/// A pause of renewals after failed tries. It survives a restart, or each restart would be a try.
///
/// Dates, not deadlines: it may be read after a reboot.
package struct RenewalPause: Sendable, Equatable {
    /// A longer `Retry-After` is cut to this: a wrong one must not stop a session for a day.
    package static let longest = Duration.seconds(3600)
    /// A higher number has no further effect.
    private static let maxFailures = 1_000_000

    /// Consecutive failures.
    package var failures: Int
    package var from: WallTime
    package var until: WallTime
    /// The provider asked for it: a change of network does not end it.
    package var isRequestedByProvider: Bool

    package init(failures: Int, from: WallTime, until: WallTime, isRequestedByProvider: Bool) {
        self.failures = failures
        self.from = from
        self.until = until
        self.isRequestedByProvider = isRequestedByProvider
    }

    /// The rest of the pause. If the clock was set, it is at most the whole pause.
    package func left(at now: WallTime) -> Duration {
        min(max(.zero, until - now), max(.zero, until - from))
    }
}

extension RenewalPause: WireObject {
    package init(blank: Blank) {
        let start = WallTime(unixSeconds: 0)
        self.init(failures: 0, from: start, until: start, isRequestedByProvider: false)
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("failures", &failures, .integer)
        try visitor.required("from", &from, .date)
        try visitor.required("until", &until, .date)
        try visitor.written("wanted", &isRequestedByProvider, .bool)
    }

    package func validate() throws(AgentError) {
        guard (1...Self.maxFailures).contains(failures),
            (0...Self.longest.seconds).contains(until.unixSeconds - from.unixSeconds)
        else {
            throw .internalError("it is not a pause")
        }
    }

    /// All pauses as one JSON object, by session.
    package static func encode(_ pauses: [SessionName: RenewalPause]) -> [UInt8] {
        var object = JSONObject()
        for (session, pause) in pauses.sorted(by: { $0.key < $1.key }) { object[session.text] = pause.json }
        return JSON.object(object).serialized()
    }

    /// Invalid pauses are ignored.
    package static func decode(_ bytes: [UInt8]) -> [SessionName: RenewalPause] {
        var pauses: [SessionName: RenewalPause] = [:]
        for (name, value) in (try? JSON(parsing: bytes))?.objectValue ?? JSONObject() {
            guard let session = try? SessionName(name), let pause = try? decode(stored: value) else { continue }
            pauses[session] = pause
        }
        return pauses
    }
}
