package import AuthModel
import AuthWire

/// Compares rules with one request of a caller. Facts are read when a rule first needs them, after everything else about it has
/// matched.
package struct AccessEvaluation {
    package enum Outcome: Sendable, Equatable {
        case match
        /// Names the first key that does not match.
        case noMatch(key: String)
        /// Everything else matches, but this key cannot be tested.
        case unknown(key: String)
    }

    package typealias Read = (AccessFacts.Need) -> AccessFacts

    private let request: AccessRequest
    private let read: Read
    private var process: AccessFacts?
    private var program: AccessFacts?
    /// Whether a rule that could decide tests the executable.
    package var testsProgram: Bool { program != nil }

    package init(_ request: AccessRequest, by read: @escaping Read) {
        (self.request, self.read) = (request, read)
    }

    package mutating func outcome(of rule: AccessRule) -> Outcome {
        if let key = mismatch(of: rule.request, rule.effect) { return .noMatch(key: key) }
        return outcome(of: rule.caller)
    }

    // MARK: The request

    private func mismatch(of test: AccessRule.RequestTest, _ effect: AccessRule.Effect) -> String? {
        if let classes = test.classes, !classes.contains(request.access) { return "class" }
        // It has no token, and is read all the time.
        if effect.needsUser, request.access == .status { return "class" }
        // Nobody could answer otherwise.
        if effect == .ask, Self.answering.contains(request.method) { return "method" }
        if let methods = test.methods, !Self.any(methods, request.method) { return "method" }
        if let sessions = test.sessions, !matches(sessions, effect) { return "session" }
        if let endpoints = test.endpoints, !(request.endpoint.map { Self.any(endpoints, $0) } ?? false) {
            return "endpoint"
        }
        if let scopes = test.scopes, !matches(scopes: scopes, effect) { return "scope" }
        return nil
    }

    private static let answering: Set<String> = [ConsentListGet.name, ConsentAnswerCall.name]

    /// A request that may be about any session is denied, or needs a check, if one of them does, and is allowed only if
    /// all are.
    private func matches(_ sessions: [TextPattern], _ effect: AccessRule.Effect) -> Bool {
        switch request.target {
        case .none: false
        case .named(let name): Self.any(sessions, name.text)
        case .any: effect != .allow
        case .later: effect == .allow
        }
    }

    /// One scope suffices for a denial or a check, and all have to match for an allowance. A token without listed
    /// scopes has all that the session has.
    private func matches(scopes: [TextPattern], _ effect: AccessRule.Effect) -> Bool {
        switch request.scopes {
        case .none: false
        case .all: effect != .allow
        case .listed(let listed):
            effect != .allow
                ? listed.contains { Self.any(scopes, $0) }
                : !listed.isEmpty && listed.allSatisfy { Self.any(scopes, $0) }
        }
    }

    private static func any(_ patterns: [TextPattern], _ text: String) -> Bool {
        patterns.contains { $0.matches(text) }
    }

    // MARK: The caller

    private enum Test {
        case yes, no, unknown
    }

    private mutating func outcome(of test: AccessRule.CallerTest) -> Outcome {
        var unknown: String?
        func check(_ key: String, _ result: Test) -> Outcome? {
            switch result {
            case .yes: break
            case .no: return .noMatch(key: key)
            case .unknown: unknown = unknown ?? key
            }
            return nil
        }
        let connection = read(.connection)
        if let listeners = test.listeners {
            if let end = check("listener", listeners.contains { $0.matches(connection.listener) } ? .yes : .no) {
                return end
            }
        }
        if let own = test.ownUser, let end = check("own_user", own == connection.isOwnUser ? .yes : .no) { return end }
        if let tests = test.sandboxes, let end = check("sandbox", Self.test(connection.sandbox, tests)) { return end }
        if test.readsProcess {
            let facts = process ?? read(.process)
            process = facts
            let patterns: [(String, [TextPattern]?, AccessFacts.Fact)] = [
                ("unit", test.units, facts.unit), ("slice", test.slices, facts.slice),
                ("label", test.labels, facts.label),
            ]
            for (key, patterns, fact) in patterns {
                if let patterns, let end = check(key, Self.test(fact, patterns)) { return end }
            }
            let presences: [(String, Bool?, AccessFacts.Fact)] = [
                ("terminal", test.terminal, facts.terminal), ("login_session", test.loginSession, facts.loginSession),
            ]
            for (key, wanted, fact) in presences {
                if let wanted, let end = check(key, Self.test(fact, isThere: wanted)) { return end }
            }
        }
        if let executables = test.executables {
            let facts = program ?? read(.program)
            program = facts
            if let end = check("executable", Self.test(facts.executable, executables)) { return end }
        }
        return unknown.map { .unknown(key: $0) } ?? .match
    }

    private static func test(_ fact: AccessFacts.Fact, _ patterns: [TextPattern]) -> Test {
        switch fact {
        case .unknown: .unknown
        case .absent: .no
        case .text(let text): any(patterns, text) ? .yes : .no
        }
    }

    private static func test(_ fact: AccessFacts.Fact, isThere wanted: Bool) -> Test {
        switch fact {
        case .unknown: .unknown
        case .absent: wanted ? .no : .yes
        case .text: wanted ? .yes : .no
        }
    }

    private static func test(_ sandbox: AccessFacts.Fact, _ tests: [AccessRule.SandboxTest]) -> Test {
        switch sandbox {
        case .unknown: .unknown
        case .absent: tests.contains(.none) ? .yes : .no
        case .text(let kind): tests.contains { $0 == .any || $0.word == kind } ? .yes : .no
        }
    }
}

extension AccessRule.CallerTest {
    fileprivate var readsProcess: Bool {
        units != nil || slices != nil || labels != nil || terminal != nil || loginSession != nil
    }
}
