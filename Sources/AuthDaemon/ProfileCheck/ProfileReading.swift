package import AuthModel
package import AuthWire

/// What the child is asked.
package struct ProfileQuestion: Sendable, WireObject {
    package var text = ""
    /// The file name in the problems found.
    package var file: String?
    /// The base URL of a server, if the requests to try there are wanted.
    package var url: String?
    /// The text has access rules, and is not a profile.
    package var isPolicy = false

    package init(blank: Blank) {}
    package init(text: String, file: String?, url: String? = nil, isPolicy: Bool = false) {
        self.text = text
        self.file = file
        self.url = url
        self.isPolicy = isPolicy
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("text", &text, .string)
        try visitor.optional("file", &file, .string)
        try visitor.optional("url", &url, .string)
        try visitor.optional("policy", &isPolicy, .bool, default: false)
    }
}

/// What the child has read.
package struct ProfileReading: Sendable, WireObject {
    package var check = ProviderCheck(problems: [])
    package var trials: [ProfileTrial] = []
    /// Whether requests that the access rules deny are refused.
    package var enforces = false
    package var rules: [PolicyRuleItem] = []

    package init(blank: Blank) {}
    package init(check: ProviderCheck, trials: [ProfileTrial] = []) {
        self.check = check
        self.trials = trials
    }

    /// Access rules without a problem.
    package init(_ policy: AccessPolicy.Rules) {
        (enforces, rules) = (policy.enforces, policy.rules.map(\.item))
    }

    /// The access rules that the child has read.
    /// - Throws: `internal` if one of them is not a rule.
    package func policy() throws(AgentError) -> AccessPolicy.Rules {
        var policy = AccessPolicy.Rules()
        policy.enforces = enforces
        for item in rules {
            guard let rule = AccessRule(item) else {
                throw .internalError("the process that reads access rules has returned an invalid one")
            }
            policy.rules.append(rule)
        }
        return policy
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("check", &check, .object)
        try visitor.written("trials", &trials, .list())
        try visitor.optional("enforces", &enforces, .bool, default: false)
        try visitor.optional("rules", &rules, .list(), default: [])
    }
}
