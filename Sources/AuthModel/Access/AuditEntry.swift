package import AuthWire

/// A request that the audit log records: what was requested, never a value that was sent or received.
package struct AuditedRequest: Sendable, Hashable {
    package var method: String
    package var session: SessionName?
    /// Separated by spaces.
    package private(set) var scopes: String?
    package private(set) var audience: String?
    /// The client's own claim.
    package private(set) var purpose: String?
    /// The endpoint of an API call, by its name in the profile.
    package private(set) var endpoint: String?
    /// The method of an API call, and the template of its path, such as `GET /users/{number}`.
    package private(set) var call: String?
    /// It is a call with `next`, about which the rules decide twice.
    package var hasNext = false
    /// The number of the queued write that the agent sends.
    package var outbox: String?
    /// Where the client sends the token, as it says, or the origins that the user accepted, separated by spaces.
    package private(set) var origin: String?
    /// It can change something, but only lists or checks.
    package private(set) var isReadOnly: Bool

    /// In bytes: a request may have a megabyte of text, and the log is in memory and fits into one response.
    package static let longestText = 240

    package init(
        method: String, session: SessionName? = nil, scopes: [String]? = nil, audience: String? = nil,
        purpose: String? = nil, endpoint: String? = nil, call: String? = nil, origin: String? = nil,
        isReadOnly: Bool = false
    ) {
        self.method = method
        self.session = session
        self.scopes = scopes.map(Self.list)
        self.audience = audience.map(Self.shortened)
        self.purpose = purpose.map(Self.shortened)
        self.endpoint = endpoint.map(Self.shortened)
        self.call = call.map(Self.shortened)
        self.origin = origin.map(Self.shortened)
        self.isReadOnly = isReadOnly
    }

    package static func list(_ texts: [String]) -> String {
        shortened(texts.lazy.prefix(longestText).joined(separator: " "))
    }

    /// The beginning of a longer text, with an ellipsis.
    package static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return String(kept(of: text.unicodeScalars)) + "…"
    }

    /// The end of a longer text, after an ellipsis: of a path the name of the file.
    package static func end(of text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return "…" + String(String.UnicodeScalarView(kept(of: text.unicodeScalars.reversed()).reversed()))
    }

    private static func kept(of scalars: some Sequence<Unicode.Scalar>) -> String.UnicodeScalarView {
        var rest = longestText
        var kept = String.UnicodeScalarView()
        for scalar in scalars {
            rest -= UTF8.width(scalar)
            guard rest >= 0 else { break }
            kept.append(scalar)
        }
        return kept
    }
}

/// One entry of the audit log. A request that a client repeats is counted in the entry of the first one.
package struct AuditEntry: Sendable, Equatable {
    /// The agent did it, at a signal.
    package static let signalRule = "signal"

    /// Consecutive, from 1. ``AuditRing`` assigns it.
    package internal(set) var number = 0
    package let at: Moment
    package let request: AuditedRequest
    package let rule: String
    /// Whether a denial by the rule was enforced; `nil`: the rule allows the request.
    package let enforced: Bool?
    /// `nil`: the agent itself.
    package let caller: CallerIdentity?
    /// The program that queued the write that the agent sends, which may have ended; `nil`: it is no such entry, or not known.
    @Boxed package private(set) var queuedBy: AccessFacts?
    /// `nil`: the request was answered.
    package let error: ErrorKind?
    /// The client left before the response.
    package let isCancelled: Bool
    /// The keyed hash of the token that was returned.
    package let token: String?
    /// Requests like this one, from ``at`` to ``last``.
    package var count = 1
    package var last: BootInstant
    /// No more requests are counted in it.
    package var hasEnded = false

    package init(
        _ request: AuditedRequest, at: Moment, rule: String, enforced: Bool? = nil, caller: CallerIdentity?,
        queuedBy: AccessFacts? = nil, error: ErrorKind? = nil, isCancelled: Bool = false, token: String? = nil
    ) {
        self.at = at
        self.request = request
        (self.rule, self.enforced) = (rule, enforced)
        self.caller = caller.map(Self.shortened)
        self.queuedBy = queuedBy
        (self.error, self.isCancelled) = (error, isCancelled)
        self.token = token
        last = at.boot
    }

    /// Whether a confined client made the request. Its entries must not replace those of others.
    package var isConfined: Bool {
        AccessRule.isBoundary(rule) || caller?.isConfined == true || queuedBy?.isConfined == true
    }

    /// The kernel allows paths of 4,095 bytes.
    private static func shortened(_ caller: CallerIdentity) -> CallerIdentity {
        var caller = caller
        caller.executable = caller.executable.map(AuditedRequest.end)
        caller.label = caller.label.map(AuditedRequest.shortened)
        return caller
    }

    package func numbered(_ number: Int) -> AuditEntry {
        var entry = self
        entry.number = number
        return entry
    }

    /// As `audit.list` returns it.
    package var item: AuditItem {
        var item = AuditItem(number: number, at: at.wall.unixSeconds, method: request.method, rule: rule)
        item.count = count
        item.lastAt = count > 1 ? at.date(of: last).unixSeconds : nil
        (item.enforced, item.error) = (enforced, error)
        item.cancelled = isCancelled ? true : nil
        item.session = request.session
        (item.scopes, item.audience, item.purpose) = (request.scopes, request.audience, request.purpose)
        (item.endpoint, item.call) = (request.endpoint, request.call)
        (item.origin, item.readOnly) = (request.origin, request.isReadOnly ? true : nil)
        item.next = request.hasNext ? true : nil
        (item.outbox, item.token) = (request.outbox, token)
        if let queuedBy { item.describe(queuedBy) }
        guard let caller else { return item }
        (item.listener, item.pid, item.uid) = (caller.listener.rawValue, caller.processID, Int(caller.userID))
        item.startedAt = caller.started(at: at)?.unixSeconds
        (item.exe, item.unit, item.slice) = (caller.executable, caller.unit, caller.slice)
        item.exeUncertain = caller.isExecutableUncertain && caller.executable != nil ? true : nil
        (item.label, item.sandbox) = (caller.label, caller.sandbox?.rawValue)
        (item.loginSession, item.terminal) = (caller.loginSession, caller.terminal)
        return item
    }
}

extension AuditItem {
    fileprivate mutating func describe(_ facts: AccessFacts) {
        listener = facts.listener.rawValue
        exe = facts.executable.text.map(AuditedRequest.end)
        (unit, slice) = (facts.unit.text, facts.slice.text)
        label = facts.label.text.map(AuditedRequest.shortened)
        sandbox = facts.sandbox.text
        (loginSession, terminal) = (facts.loginSession.text, facts.terminal.text)
    }
}
