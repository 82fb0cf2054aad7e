import AuthWire

/// Which programs have made requests last, as far as the audit log has them.
struct LiveCallers {
    /// A program and what it has requested. The same request of the same program is one line, with the last time.
    struct Line: Equatable {
        let program: String
        let request: String
        /// Unix seconds.
        let at: Double

        /// The same request at another time.
        func isSame(as other: Line) -> Bool { (program, request) == (other.program, other.request) }
    }

    /// More than a screen has.
    private static let kept = 40
    /// Entries that the agent returns at most.
    private static let limit = 100
    /// The agent counts equal requests of a connection in one entry for so many seconds. Until then the entry may change.
    private static let mayChange = 60.0
    /// Seconds between two questions, unless there are events.
    private static let pause = 5.0

    /// Only requests that name it; `nil`: all.
    let session: SessionName?
    /// The newest first.
    private var entries: [AuditItem] = []
    /// Each run of the agent has its own numbers.
    private var startedAt: Double?
    /// There may be newer entries than those of the last answer.
    private var isBehind = false
    private var isRefused = false
    private var askedAt = -Double.infinity

    init(session: SessionName? = nil) {
        self.session = session
    }

    /// The newest first.
    var lines: [Line] {
        var seen: Set<[String]> = []
        let named = entries.filter { $0.pid != nil && (session == nil || $0.session == session) }
        return named.map(Line.init).sorted { $0.at > $1.at }.filter { seen.insert([$0.program, $0.request]).inserted }
    }

    /// What to ask the agent. `nil`: nothing, because it refuses, or was asked a moment ago.
    /// - Parameter isTick: nothing has happened but that time has passed.
    mutating func question(isTick: Bool, now: Double) -> AuditListGet? {
        guard !isRefused, !isTick || abs(now - askedAt) >= Self.pause else { return nil }
        askedAt = now
        guard let newest = entries.first, !isBehind else { return AuditListGet(limit: Self.kept) }
        let changing = entries.last { abs(now - $0.at) < Self.mayChange }
        return AuditListGet(after: changing.map { $0.number - 1 } ?? newest.number, limit: Self.limit)
    }

    mutating func apply(_ list: AuditList) {
        if list.startedAt != startedAt { entries = [] }
        startedAt = list.startedAt
        isBehind = list.entries.count >= Self.limit
        let numbers = Set(list.entries.map(\.number))
        let all = list.entries + entries.filter { !numbers.contains($0.number) }
        entries = Array(all.sorted { $0.number > $1.number }.prefix(Self.kept))
    }

    /// The agent may record each request that it refuses, so this one is not asked again.
    mutating func refuse() {
        entries = []
        isRefused = true
    }
}

extension LiveCallers.Line {
    init(_ entry: AuditItem) {
        let name = entry.program?.split(separator: "/").last.map(String.init)
        program = Visible.line(name ?? entry.pid.map { "pid \($0)" } ?? "?")
        // Directly after the name, so that a long request does not push it off the screen.
        let mark = entry.exeUncertain == true ? "(path not verified)" : nil
        let what = [mark, entry.method, entry.session?.text].compactMap(\.self).joined(separator: " ")
        let call = (entry.call ?? entry.endpoint).map { ": " + $0 } ?? ""
        let failure = entry.cancelled == true ? "cancelled" : entry.error?.rawValue
        let error = failure.map { ", " + StatusCard.spaced($0) } ?? ""
        request = Visible.line(what + call + error)
        at = entry.lastAt ?? entry.at
    }

    /// In whole minutes: the view is drawn once a minute if nothing else changes.
    func age(now: Double) -> String {
        let minutes = ((now - at) / 60).rounded(.down)
        return minutes < 1 ? "just now" : Span.text(seconds: minutes * 60) + " ago"
    }
}
