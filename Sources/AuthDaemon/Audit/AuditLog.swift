package import AuthMachines
package import AuthModel
package import AuthWire
import Logging
import Synchronization

/// The agent's record of who got tokens and proofs, called APIs, exported sessions or changed the agent: in memory for
/// `audit.list`, and as lines of the log. Any thread uses it.
///
/// No entry has a secret, a value of a request, or any part of a response.
package final class AuditLog: Sendable {
    /// Entries in memory: about 3 MiB with the longest texts.
    package static let capacity = 1024
    /// Entries that wait to be written to the log. If it is slower than that, entries are missing there, and counted.
    static let backlog = 1024
    /// Entries that `audit.list` returns if the client does not say how many. No more are rendered on the sockets' thread.
    static let usualLimit = 100

    private struct Contents {
        var ring: AuditRing
        var budget = LineBudget()
        var unlogged = 0
    }

    private let inside: Mutex<Contents>
    private let clock: any SystemClock
    private let hasher = TokenHasher()
    private let started: WallTime
    private let lines: AsyncStream<AuditEntry>
    private let newLines: AsyncStream<AuditEntry>.Continuation

    package init(clock: any SystemClock, capacity: Int = capacity) {
        self.clock = clock
        started = clock.now().wall
        inside = Mutex(Contents(ring: AuditRing(capacity: capacity)))
        (lines, newLines) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.backlog))
    }

    /// - Parameters:
    ///   - queuedBy: the program that queued the write that the agent sends.
    ///   - token: that was returned.
    /// - Returns: the place of the entry.
    @discardableResult
    package func record(
        _ request: AuditedRequest, by caller: CallerIdentity?, queuedBy: AccessFacts? = nil, rule: String,
        enforced: Bool? = nil, error: ErrorKind? = nil, isCancelled: Bool = false, token: Secret? = nil
    ) -> AuditRing.Place {
        let entry = AuditEntry(
            request, at: clock.now(), rule: rule, enforced: enforced, caller: caller, queuedBy: queuedBy, error: error,
            isCancelled: isCancelled, token: token.map { hasher.hash(of: $0) })
        return inside.withLock { inside in
            let (kept, place, replaced) = inside.ring.append(entry)
            // Its number would be lost.
            if let replaced, !replaced.hasEnded { writeCount(of: replaced, at: entry.at.boot, &inside) }
            write(kept, at: entry.at.boot, &inside)
            return place
        }
    }

    /// Counts one more request like that of this entry.
    /// - Returns: `false` if the entry is not in memory any more, or has ended.
    func repeated(_ place: AuditRing.Place, at now: BootInstant) -> Bool {
        inside.withLock { $0.ring.repeated(place, at: now) }
    }

    /// No more requests are counted in this entry. The log gets how many there were.
    func ended(_ place: AuditRing.Place) {
        let now = clock.now().boot
        inside.withLock { inside in
            if let entry = inside.ring.end(place) { writeCount(of: entry, at: now, &inside) }
        }
    }

    /// - Parameters:
    ///   - number: see ``AuditRing/entries(after:limit:without:)``.
    ///   - isHidden: whether the client must not see the session.
    func list(after number: Int?, limit: Int, without isHidden: ((SessionName) -> Bool)? = nil) -> AuditList {
        let (entries, dropped, unlogged) = inside.withLock { inside in
            (
                inside.ring.entries(after: number, limit: limit, without: isHidden), inside.ring.dropped,
                inside.unlogged
            )
        }
        return AuditList(
            entries: entries.map(\.item), startedAt: started.unixSeconds, dropped: dropped, unlogged: unlogged)
    }

    /// All entries in memory, oldest first.
    var entries: [AuditEntry] { inside.withLock { $0.ring.entries(after: nil, limit: Int.max) } }

    var now: BootInstant { clock.now().boot }

    func hash(of token: Secret) -> String { hasher.hash(of: token) }

    // MARK: The log

    /// The second line of an entry with repeated requests.
    private func writeCount(of entry: AuditEntry, at now: BootInstant, _ inside: inout Contents) {
        if entry.count > 1 { write(entry, at: now, &inside) }
    }

    /// Called within the lock, so that the lines have the order of the entries.
    private func write(_ entry: AuditEntry, at now: BootInstant, _ inside: inout Contents) {
        if inside.budget.allows(entry, at: now), case .enqueued = newLines.yield(entry) { return }
        inside.unlogged += 1
    }

    /// Writes entries to the log until it is cancelled, and then those that wait.
    package func run(in log: AgentLog) async {
        await run(logger: log.auditLogger(), flush: AgentLog.flush)
    }

    /// - Parameter flush: returns when the entry is written, or when the task is cancelled. Newer entries wait in the
    ///   backlog until then.
    func run(logger: Logger, flush: () async -> Void = {}) async {
        for await entry in lines {
            logger.info("\(entry.summary)", metadata: entry.fields)
            await flush()
        }
    }
}

extension AuditEntry {
    /// One sentence for a reader of the log.
    var summary: String {
        let who = request.session.map { " for \($0)" } ?? ""
        let answered = count > 1 ? "answered \(count) times" : "answered"
        let failure = error.map { isCancelled ? "cancelled by the client" : "refused or failed (\($0.rawValue))" }
        return "Audit: \(request.method)\(who) \(failure ?? answered)"
    }

    /// `session` becomes `AUTHD_SESSION` in the journal.
    var fields: Logger.Metadata {
        let item = item
        var fields: Logger.Metadata = [
            CatalogMessage.key: "\(CatalogMessage.audit.rawValue)", "audit": "\(item.number)",
            "method": "\(item.method)", "rule": "\(item.rule)",
        ]
        let texts: [(String, String?)] = [
            ("enforced", item.enforced.map { $0 ? "true" : "false" }), ("error", item.error?.rawValue),
            ("cancelled", item.cancelled == true ? "true" : nil),
            ("session", item.session?.text), ("endpoint", item.endpoint),
            ("call", item.call), ("origin", item.origin),
            ("next", item.next == true ? "true" : nil), ("outbox", item.outbox),
            ("read_only", item.readOnly == true ? "true" : nil), ("token_hash", item.token),
            ("listener", item.listener),
            ("peer_pid", item.pid.map { "\($0)" }), ("peer_uid", item.uid.map { "\($0)" }),
            ("peer_start", caller?.startTicks.map { "\($0)" }), ("exe", item.exe),
            ("exe_uncertain", item.exeUncertain == true ? "true" : nil), ("unit", item.unit),
            ("slice", item.slice), ("label", item.label), ("sandbox", item.sandbox),
            ("login_session", item.loginSession), ("terminal", item.terminal), ("scopes", item.scopes),
            ("audience", item.audience), ("purpose", item.purpose),
            ("count", item.count > 1 ? "\(item.count)" : nil),
        ]
        for (key, text) in texts { if let text { fields[key] = "\(text)" } }
        return fields
    }
}
