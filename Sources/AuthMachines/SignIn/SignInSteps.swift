package import AuthModel
package import AuthWire

/// What the responses of a sign-in have asked for, and the values that they had.
package struct SignInSteps: Sendable {
    /// Requests that follow each other without the user. A provider that asks for more is in a loop.
    static let mostRequests = 10
    /// How often one step can be used in a sign-in.
    static let mostUses = 5
    /// A wrong answer to a step may be corrected this often.
    static let mostCorrections = 5

    /// The present one.
    private(set) var step: RequestedStep?
    /// Values from responses.
    package private(set) var captured: [String: IssuedValue] = [:]
    /// Answers to the fields of steps. They are used once, and never remembered.
    private var answers: [String: Secret] = [:]
    private var uses: [Int: Int] = [:]
    private var requests = 0
    private var corrections = 0
    /// Whether the user was asked anything in the present step.
    var hasAsked = false
    /// Whether the user has entered a password in one of the steps.
    private(set) var hadPassword = false
    /// The new password of a former step.
    private var formerPassword: Secret?
    /// How many of the requests before the sign-in's own were answered.
    private(set) var before = 0
    /// What follows them.
    private(set) var target = SignInPart.own

    package init() {}

    package mutating func keep(_ values: [String: IssuedValue]) { captured.merge(values) { $1 } }

    /// The request to send now if this one is meant: first come those before all others.
    package mutating func next(for part: SignInPart, of method: SignInMethod) -> SignInPart {
        guard before < method.before.count, [.challenge, .first, .own].contains(part) else { return part }
        target = part
        return .before(before)
    }

    package mutating func beforeAnswered() { before += 1 }

    /// - Throws: if too many requests follow each other without the user.
    package mutating func countRequest(at title: String) throws(AgentError) {
        requests += 1
        guard requests <= Self.mostRequests else {
            throw .stepLimit("\(title) has asked for more than \(Self.mostRequests) requests in a row.")
        }
    }

    mutating func userActed() { requests = 0 }

    /// - Throws: if the provider asks for the same step too often.
    mutating func enter(_ requested: RequestedStep, at title: String) throws(AgentError) {
        uses[requested.index, default: 0] += 1
        guard uses[requested.index, default: 0] <= Self.mostUses else {
            throw .stepLimit("\(title) has asked for the same step more than \(Self.mostUses) times.")
        }
        formerPassword = newPassword
        // Each answer is used once.
        for field in step?.fields ?? [] { answers[field.name] = nil }
        if step?.index != requested.index { corrections = 0 }
        hasAsked = false
        step = requested
    }

    /// The fields of all steps, which can be answered before they are asked for.
    static func fields(of method: SignInMethod) -> [StepField] { method.next.flatMap(\.fields) }

    mutating func accept(_ given: [String: Secret]) { answers.merge(given) { $1 } }

    /// The present step's request is sent with the answers.
    mutating func answersSent() {
        let passwords = step?.fields.filter { FieldKind.passwords.contains($0.kind ?? "") } ?? []
        if passwords.contains(where: { answers[$0.name] != nil }) { hadPassword = true }
    }

    /// The new password that a step has asked for last.
    var newPassword: Secret? {
        let field = step?.fields.first { $0.kind == FieldKind.newPassword }
        return field.flatMap { answers[$0.name] } ?? formerPassword
    }

    /// What the user is asked; `nil`: nothing is missing.
    mutating func question(of method: SignInMethod) -> SignInQuestion? {
        guard let step else { return nil }
        let (broken, words) = unmetFields(of: method, among: nil)
        let unmet = Set(broken.map(\.name))
        for name in unmet { answers[name] = nil }
        let missing = step.fields.filter { !$0.optional && $0.value == nil && answers[$0.name] == nil }
        let isBlank = !hasAsked && !step.fields.isEmpty && step.fields.allSatisfy { answers[$0.name] == nil }
        guard !unmet.isEmpty || !missing.isEmpty || isBlank else { return nil }
        // It is an error only if it follows an answer.
        let error = uses[step.index, default: 0] > 1 ? step.error : nil
        let asked = step.fields.filter { unmet.isEmpty ? answers[$0.name] == nil : unmet.contains($0.name) }
        return SignInQuestion(
            fields: asked, message: words ?? step.message, error: words == nil ? error : nil)
    }

    /// The answers that break rules, and each broken rule in words.
    /// - Parameter names: `nil`: all of them.
    func unmetFields(of method: SignInMethod, among names: Set<String>?) -> ([StepField], String?) {
        guard let step else { return ([], nil) }
        let rules = method.next[step.index].rules
        var (unmet, words): ([StepField], [String]) = ([], [])
        for field in step.fields where names?.contains(field.name) ?? true {
            guard let answer = answers[field.name] else { continue }
            var broken = ProviderProfile.check(fields: [field.name: answer], [field], rules)
            if broken.isEmpty, let choices = field.choices, choice(of: field, answer) == nil {
                broken = ["\(field.label): one of \(choices.map(\.label).joined(separator: ", "))"]
            }
            guard !broken.isEmpty else { continue }
            unmet.append(field)
            words += broken
        }
        return (unmet, words.isEmpty ? nil : words.joined(separator: "\n"))
    }

    /// What is asked again after the provider has refused the answers; `nil`: nothing, the sign-in ends.
    mutating func correction(after error: AgentError) -> SignInQuestion? {
        guard let step, !step.fields.isEmpty, [ErrorKind.validation, .refused, .forbidden].contains(error.kind),
            corrections < Self.mostCorrections
        else { return nil }
        corrections += 1
        for field in step.fields { answers[field.name] = nil }
        return SignInQuestion(fields: step.fields, message: error.providerMessage ?? error.message, error: error)
    }

    /// The answers to the present step, for its request.
    var values: [String: IssuedValue] {
        var values: [String: IssuedValue] = [:]
        for field in step?.fields ?? [] {
            guard let answer = answers[field.name] ?? field.value.map({ Secret($0) }) else { continue }
            values[field.name] = field.choices == nil ? IssuedValue(answer) : choice(of: field, answer)
        }
        return values
    }

    /// The value that was chosen, by itself or by its label.
    private func choice(of field: StepField, _ answer: Secret) -> IssuedValue? {
        let text = answer.reveal()
        let choices = field.choices ?? []
        guard let chosen = choices.first(where: { $0.value == text }) ?? choices.first(where: { $0.label == text })
        else {
            return nil
        }
        return step?.choices[field.name]?.first { $0.text.reveal() == chosen.value }
    }
}

extension AgentError {
    fileprivate static func stepLimit(_ what: String) -> AgentError {
        AgentError(.badReply, what + " The sign-in ends.", cause: "step_limit", retryable: false)
    }
}
