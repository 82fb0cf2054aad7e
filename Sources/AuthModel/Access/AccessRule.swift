package import AuthWire

/// One access rule. It matches if all of its tests do.
package struct AccessRule: Sendable, Equatable {
    package enum Effect: String, Sendable, CaseIterable {
        case allow, deny
        /// Allows a request of a class other than `status` after a check of the user's presence.
        case presence
        /// Allows a request of a class other than `status` after the user has allowed it.
        case ask

        /// How much of the user it needs. Of two rules that allow a request, the one that needs more counts.
        package var strictness: Int {
            switch self {
            case .allow, .deny: 0
            case .ask: 1
            case .presence: 2
            }
        }

        package var needsUser: Bool { strictness > 0 }
    }

    /// Where a rule is from. The raw value begins its ID.
    package enum Source: String, Sendable {
        case root, user
        case builtIn = "default"
        /// The hard boundary, which has decided already.
        case boundary = "listener"
    }

    /// What it tests about the caller; `nil`: anything.
    package struct CallerTest: Sendable, Equatable {
        package var executables: [TextPattern]?
        package var units: [TextPattern]?
        package var slices: [TextPattern]?
        package var labels: [TextPattern]?
        package var sandboxes: [SandboxTest]?
        package var listeners: [ListenerTest]?
        package var terminal: Bool?
        package var loginSession: Bool?
        package var ownUser: Bool?

        package init() {}
    }

    package enum SandboxTest: Sendable, Equatable {
        case none, any
        case kind(CallerIdentity.Sandbox)

        /// The values of the key `sandbox`.
        package static let words =
            ["none", "any"] + CallerIdentity.Sandbox.allCases.filter { $0 != .unknown }.map(\.rawValue)

        package init?(_ word: String) {
            switch word {
            case "none": self = .none
            case "any": self = .any
            default:
                guard let kind = CallerIdentity.Sandbox(rawValue: word), kind != .unknown else { return nil }
                self = .kind(kind)
            }
        }

        package var word: String {
            switch self {
            case .none: "none"
            case .any: "any"
            case .kind(let kind): kind.rawValue
            }
        }
    }

    package enum ListenerTest: Sendable, Equatable {
        case name(ListenerName)
        /// Every socket for limited access.
        case limited

        /// For messages.
        package static let expected = "\(ListenerName.limitedWord), \(ListenerName.expected)"

        package init?(_ word: String) {
            guard word != ListenerName.limitedWord else {
                self = .limited
                return
            }
            guard let name = ListenerName(rawValue: word) else { return nil }
            self = .name(name)
        }

        package var word: String {
            switch self {
            case .name(let name): name.rawValue
            case .limited: ListenerName.limitedWord
            }
        }

        package func matches(_ listener: ListenerName) -> Bool {
            switch self {
            case .name(let name): name == listener
            case .limited: listener.isLimited
            }
        }
    }

    /// What it tests about the request; `nil`: anything.
    package struct RequestTest: Sendable, Equatable {
        package var sessions: [TextPattern]?
        package var classes: [AccessClass]?
        package var methods: [TextPattern]?
        package var endpoints: [TextPattern]?
        package var scopes: [TextPattern]?

        package init() {}
    }

    package let name: String
    package let source: Source
    package let effect: Effect
    package var reason: String?
    package var caller = CallerTest()
    package var request = RequestTest()

    package init(_ name: String, from source: Source, _ effect: Effect, reason: String? = nil) {
        (self.name, self.source, self.effect, self.reason) = (name, source, effect, reason)
    }

    /// The name in messages and in the audit log.
    package var id: String { "\(source.rawValue).\(name)" }

    /// Whether it is the ID of a boundary's rule.
    static func isBoundary(_ id: String) -> Bool { id.hasPrefix("\(Source.boundary.rawValue).") }

    /// Whether it is a valid name, as for a session: lower-case letters, digits and `._-`.
    package static func isName(_ text: String) -> Bool { (try? SessionName(text)) != nil }

    /// The rule as `policy.show` lists it.
    package var item: PolicyRuleItem {
        var item = PolicyRuleItem(rule: id, effect: effect.rawValue, reason: reason)
        func texts(_ patterns: [TextPattern]?) -> [String]? { patterns?.map(\.text) }
        (item.executables, item.units) = (texts(caller.executables), texts(caller.units))
        (item.slices, item.labels) = (texts(caller.slices), texts(caller.labels))
        item.sandboxes = caller.sandboxes?.map(\.word)
        item.listeners = caller.listeners?.map(\.word)
        (item.terminal, item.loginSession) = (caller.terminal, caller.loginSession)
        item.ownUser = caller.ownUser
        (item.sessions, item.methods) = (texts(request.sessions), texts(request.methods))
        item.classes = request.classes?.map(\.rawValue)
        (item.endpoints, item.scopes) = (texts(request.endpoints), texts(request.scopes))
        return item
    }

    /// The rule that ``item`` was made from; `nil` if there is no such rule.
    package init?(_ item: PolicyRuleItem) {
        let parts = item.rule.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, let source = Source(rawValue: parts[0]), Self.isName(parts[1]),
            let effect = Effect(rawValue: item.effect)
        else { return nil }
        self.init(parts[1], from: source, effect, reason: item.reason)
        var isValid = true
        func values<Value>(_ texts: [String]?, _ read: (String) -> Value?) -> [Value]? {
            let values = texts?.compactMap(read)
            if values?.count != texts?.count { isValid = false }
            return values
        }
        func patterns(_ texts: [String]?) -> [TextPattern]? { values(texts, TextPattern.init) }
        (caller.executables, caller.units) = (patterns(item.executables), patterns(item.units))
        (caller.slices, caller.labels) = (patterns(item.slices), patterns(item.labels))
        caller.sandboxes = values(item.sandboxes) { SandboxTest($0) }
        caller.listeners = values(item.listeners) { ListenerTest($0) }
        (caller.terminal, caller.loginSession) = (item.terminal, item.loginSession)
        caller.ownUser = item.ownUser
        (request.sessions, request.methods) = (patterns(item.sessions), patterns(item.methods))
        request.classes = values(item.classes) { AccessClass(rawValue: $0) }
        (request.endpoints, request.scopes) = (patterns(item.endpoints), patterns(item.scopes))
        guard isValid else { return nil }
    }
}
