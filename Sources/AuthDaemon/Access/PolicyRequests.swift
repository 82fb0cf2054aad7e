package import AuthConcurrency
import AuthFiles
import AuthMachines
package import AuthModel
package import AuthWire

/// Answers `policy.*`, and replaces rules.
package struct PolicyRequests: Sendable {
    /// Reads a client's text in another process.
    package typealias ReadText = @Sendable (ProfileQuestion) async throws(AgentError) -> ProfileReading
    private typealias Problems = PolicySources.PolicyProblems

    let access: AccessControl
    /// What confined clients may do.
    private let boundary: StateBroadcast<ListenerTables>
    private let sources: PolicySources
    private let readText: ReadText
    private let audit: AuditLog
    /// One thread, so that changes are made one after the other.
    private let disk = BlockingThread()

    package init(
        _ access: AccessControl, behind boundary: StateBroadcast<ListenerTables>, from sources: PolicySources,
        readText: @escaping ReadText, audit: AuditLog
    ) {
        (self.access, self.boundary, self.sources, self.audit) = (access, boundary, sources, audit)
        self.readText = readText
    }

    var boundaryTables: ListenerTables { boundary.current ?? ListenerTables() }

    // MARK: Root's rules

    /// Reads root's file, on the caller's thread.
    /// - Throws: `validation` with each problem.
    package func rootRules() throws(AgentError) -> AccessPolicy.Rules {
        do throws(Problems) {
            return try sources.readRoot()
        } catch {
            throw .broken(sources.rootPath, error.texts)
        }
    }

    /// - Returns: whether they differ from those before.
    package func use(root rules: AccessPolicy.Rules) -> Bool {
        guard access.policy.root != rules else { return false }
        access.change { $0.root = rules }
        return true
    }

    package func use(presenceSessions sessions: Set<SessionName>) {
        guard access.policy.presenceSessions != sessions else { return }
        access.change { $0.presenceSessions = sessions }
    }

    package func differs(root rules: AccessPolicy.Rules) -> Bool { access.policy.root != rules }

    // MARK: Requests

    func show() async throws(AgentError) -> PolicyInfo {
        let (user, applied, root) = try await onDisk { [sources] in
            (
                Result { () throws(Problems) in try sources.userText() },
                Result { () throws(Problems) in try sources.applied() },
                Result { () throws(Problems) in try sources.readRoot() }
            )
        }
        var problems: [String] = []
        if case .failure(let failure) = root { problems += failure.texts }
        if case .failure(let failure) = applied { problems += failure.texts }
        if case .failure(let failure) = user { problems += failure.texts }
        let policy = access.policy
        let isApplied = (try? user.get()) == (try? applied.get().text)
        return PolicyInfo(
            enforced: policy.isEnforced, rules: policy.all.map(\.item), rootFile: sources.rootPath,
            userFile: sources.userPath, unapplied: !isApplied, problems: problems)
    }

    /// - Parameters:
    ///   - session, visible: the default session, and that of a listener's confined clients.
    ///   - caller: the facts that are used if the request describes no program.
    func test(
        _ call: PolicyTest, default session: SessionName?, confined visible: (ListenerName) -> SessionName?,
        by caller: AccessFacts
    ) throws(AgentError) -> PolicyVerdict {
        let facts = try call.facts() ?? caller
        let described = AccessRequest(
            method: call.method, session: call.session, endpoint: call.endpoint, scopes: call.scopes,
            hasNext: call.next == true, default: facts.isConfined ? visible(facts.listener.boundary) : session)
        guard let request = described else { throw .methodNotFound(call.method) }
        if facts.isConfined, let refusal = refusal(of: request, for: call.audience, at: facts.listener) {
            return PolicyVerdict(
                allowed: false, enforced: true, rule: AccessPolicy.boundary(of: facts.listener).id,
                reason: refusal.message)
        }
        var steps: [PolicyStep] = []
        let decision = access.policy.decision(
            about: request, by: { _ in facts },
            noting: { compared, rule, outcome in
                var step = PolicyStep(rule.id, outcome)
                if compared.method != request.method { step.method = compared.method }
                steps.append(step)
            })
        return PolicyVerdict(
            allowed: !decision.isDenied, enforced: decision.isEnforced, rule: decision.rule.id,
            reason: decision.rule.reason, unknown: decision.unknown, check: decision.check?.word, steps: steps)
    }

    /// Why no rule is compared with a request of a confined client; `nil` if its boundary allows the request.
    private func refusal(
        of request: AccessRequest, for audience: String?, at listener: ListenerName
    ) -> AgentError? {
        var confined = ConfinedRequest(method: request.method, access: request.access, at: listener)
        (confined.session, confined.endpoint) = (request.target.name, request.endpoint)
        (confined.hasAddress, confined.audience) = (request.reachesAnyPath, audience)
        if case .listed(let scopes) = request.scopes { confined.scopes = scopes }
        return confined.refusal(by: boundaryTables[listener])
    }

    func replay(_ call: PolicyReplay) async throws(AgentError) -> PolicyReplayed {
        let new = if let text = call.text { try await rules(in: text) } else { try await rulesOfFile() }
        let former = access.policy
        var later = former
        later.user = new
        var compared = 0
        let differences: [PolicyDifference] = audit.entries.compactMap { entry in
            guard let caller = entry.caller, let request = AccessRequest(entry.request) else { return nil }
            compared += 1
            let facts = AccessFacts(caller, ownUserID: access.ownUserID)
            let (old, new) = (
                former.decision(about: request) { _ in facts }, later.decision(about: request) { _ in facts }
            )
            guard old.result != new.result else { return nil }
            return PolicyDifference(
                entry.item, formerRule: old.rule.id, formerResult: old.result, rule: new.rule.id, result: new.result)
        }
        return PolicyReplayed(entries: compared, changes: differences)
    }

    private func rulesOfFile() async throws(AgentError) -> AccessPolicy.Rules {
        let file = sources.userPath ?? "policy.toml"
        return try await onDisk { [sources] in
            Result { () throws(Problems) in try sources.parseUser(sources.userText(), file) }
        }.mapError { AgentError.broken(file, $0.texts) }.get()
    }

    /// The rules that a client has sent.
    private func rules(in text: String) async throws(AgentError) -> AccessPolicy.Rules {
        let file = "policy.toml"
        let reading = try await readText(ProfileQuestion(text: text, file: file, isPolicy: true))
        let problems = reading.check.problems.map(\.description)
        guard problems.isEmpty else { throw .broken(file, problems) }
        return try reading.policy()
    }

    /// - Parameter caller: the client that applies the rules.
    func apply(_ call: PolicyApply, by caller: AccessFacts) async throws(AgentError) -> PolicyChange {
        let file = sources.userPath ?? "policy.toml"
        let (user, former) = try await onDisk { [sources] in
            (
                Result { () throws(Problems) in
                    let text = try sources.userText()
                    return (text: text, rules: try sources.parseUser(text, file))
                }, Result { () throws(Problems) in try sources.applied() }
            )
        }
        let (text, rules) = try user.mapError { AgentError.broken(file, $0.texts) }.get()
        // A copy that cannot be used is shown as empty.
        let formerText = (try? former.get().text) ?? ""
        let policy = access.policy
        var change = PolicyChange(former: formerText, text: text, applied: false, locksOut: false)
        if case .failure = former { change.isBroken = true }
        if policy.user.isBroken { change.isBroken = true }
        var later = policy
        later.user = rules
        let needed = [
            AccessRequest(method: PolicyApply.name, access: PolicyApply.access),
            AccessRequest(method: AgentUnlock.name, access: AgentUnlock.access),
        ]
        change.locksOut = needed.contains { later.decision(about: $0) { _ in caller }.isRefused }
        guard let accepted = call.accepted else { return change }
        guard accepted == text else {
            throw AgentError(
                .conflict, "\(file) has changed since it was shown: run `authc policy apply` again.")
        }
        // This is completed even if the client disconnects: rules that are stored must be in use.
        let stored = await disk.complete { [access, sources] in
            let stored = sources.apply(text)
            if case .success = stored { access.change { $0.user = rules } }
            return stored
        }
        if case .failure(let failure) = stored { throw .internalError("The rules are not in use: \(failure).") }
        change.applied = true
        return change
    }

    private func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async throws(AgentError) -> Value {
        guard let value = await disk.run(work) else { throw .callerGone }
        return value
    }
}

extension AgentError {
    fileprivate static func broken(_ file: String, _ problems: [String]) -> AgentError {
        AgentError(.validation, "The access rules in \(file) are invalid; nothing was changed.", details: problems)
    }
}

extension PolicyTest {
    /// The facts about the program that is described; `nil` if none is.
    fileprivate func facts() throws(AgentError) -> AccessFacts? {
        let texts = [executable, unit, slice, sandbox, label, listener]
        guard texts.contains(where: { $0 != nil }) || terminal != nil || loginSession != nil else { return nil }
        var facts = AccessFacts()
        if let listener {
            guard let name = ListenerName(rawValue: listener) else {
                throw .invalidParams(
                    "params.listener: expected \(ListenerName.expected); found '\(listener.quotable)'.")
            }
            facts.listener = name
        }
        if let sandbox, sandbox != "none" {
            guard AccessRule.SandboxTest.words.contains(sandbox), sandbox != "any" else {
                let words = AccessRule.SandboxTest.words.filter { $0 != "any" }
                throw .invalidParams(
                    "params.sandbox: expected one of \(words.joined(separator: ", ")); found '\(sandbox.quotable)'.")
            }
            facts.sandbox = .text(sandbox)
        }
        facts.isConfined = facts.listener.isLimited || facts.sandbox != .absent
        facts.executable = .init(executable, isKnown: false)
        facts.unit = .init(unit, isKnown: false)
        facts.slice = .init(slice, isKnown: false)
        facts.label = .init(label, isKnown: false)
        facts.terminal = terminal == true ? .text("") : .absent
        facts.loginSession = loginSession == true ? .text("") : .absent
        return facts
    }
}

extension AccessCheck {
    /// As in the result of `policy.test`.
    fileprivate var word: String {
        switch self {
        case .presence: "presence"
        case .consent: "consent"
        }
    }
}

extension PolicyStep {
    fileprivate init(_ rule: String, _ outcome: AccessEvaluation.Outcome) {
        switch outcome {
        case .match: self.init(rule: rule, outcome: "match", key: nil)
        case .noMatch(let key): self.init(rule: rule, outcome: "no_match", key: key)
        case .unknown(let key): self.init(rule: rule, outcome: "unknown", key: key)
        }
    }
}

extension AccessRequest {
    /// What the audit log has of a request; `nil` for a method of another version.
    fileprivate init?(_ audited: AuditedRequest) {
        self.init(
            method: audited.method, session: audited.session, endpoint: audited.endpoint,
            scopes: audited.scopes?.split(separator: " ").map(String.init), hasOrigin: audited.origin != nil,
            hasNext: audited.hasNext, default: nil)
    }
}
