package import AuthModel
package import AuthWire

/// What a sign-in asks the user: the fields of its method, the answers so far, and what they lead to.
package struct SignInForm: Sendable {
    /// What the answers lead to.
    package enum Next: Sendable {
        case ask(SignInQuestion)
        /// The provider sends what the rest of the answers depends on.
        case sendChallenge
        case authorize(OAuthFlow)
        /// Nothing is missing.
        case finish
    }

    /// A challenge that is on its way to the user.
    package struct SentChallenge: Sendable {
        let place: String?
        let endsAt: BootInstant?
        let againAt: BootInstant
    }

    /// A wrong answer to a challenge may be corrected this often; then another sign-in is begun.
    private static let maxCorrections = 5

    package let profile: ProviderProfile
    package let environment: String
    package let method: SignInMethod
    /// Where the user proves their identity, instead of entering a proof.
    package let proof: IdentityProof?
    /// The answers.
    package private(set) var fields: [String: Secret] = [:]
    var steps = SignInSteps()
    private(set) var sent: SentChallenge?
    private var isProven = false
    private var corrections = 0
    /// Whether the user was asked anything yet.
    var hasAsked = false

    /// All that is asked before the user is sent elsewhere.
    private var ownFields: [StepField] { method.fields + (proof?.fields ?? []) }

    package init(
        profile: ProviderProfile, environment: String?, method: SignInMethod, proof: IdentityProof? = nil,
        answers: [String: String]
    ) throws(AgentError) {
        self.profile = profile
        self.environment = try profile.environment(named: environment).name
        self.method = method
        self.proof = proof
        let later = Set(SignInSteps.fields(of: method).map(\.name)).subtracting(ownFields.map(\.name))
        try accept(answers.filter { !later.contains($0.key) })
        // They are used when a response asks for them.
        for field in SignInSteps.fields(of: method) where later.contains(field.name) {
            acceptInStep(answers, [field])
        }
    }

    /// What its requests are made of.
    package var values: SignInValues {
        var values = SignInValues(environment: environment, fields: fields)
        values.stepFields = steps.values
        values.captured = steps.captured
        return values
    }

    /// The address that signs in, if one was given.
    var email: String? {
        let field = method.fields.first { $0.kind == FieldKind.email }
        return field.flatMap { fields[$0.name]?.reveal() }
    }

    /// - Parameter extra: what is asked besides.
    /// - Throws: `validation` for a field that the method does not have.
    mutating func accept(_ answers: [String: String], besides extra: [StepField] = []) throws(AgentError) {
        let stepFields = steps.step?.fields
        let asked = stepFields ?? ownFields + extra
        let known = Set(asked.map(\.name))
        if let unknown = answers.keys.filter({ !known.contains($0) }).min() {
            let names = asked.map(\.name)
            throw AgentError(
                .validation,
                "\(method.label) has no field \(unknown)\(Suggestion.question(about: unknown, among: names)); it has: "
                    + names.joined(separator: ", ") + ".", details: names)
        }
        if let stepFields { return acceptInStep(answers, stepFields) }
        for field in asked {
            guard let value = answers[field.name] else { continue }
            fields[field.name] = Self.answer(value, to: field)
        }
    }

    private mutating func acceptInStep(_ answers: [String: String], _ asked: [StepField]) {
        var given: [String: Secret] = [:]
        for field in asked { given[field.name] = answers[field.name].flatMap { Self.answer($0, to: field) } }
        steps.accept(given)
    }

    /// Space around a pasted address, code or key is not part of it; of another secret every character counts.
    private static func answer(_ value: String, to field: StepField) -> Secret? {
        let isPasted = !field.secret || field.name == OAuthField.address.name || field.kind == FieldKind.key
        let answer = isPasted ? value.withoutSpaceAround : value
        return answer.isEmpty ? nil : Secret(answer)
    }

    /// Removes an answer, and returns it.
    mutating func removeAnswer(to field: StepField) -> Secret? { fields.removeValue(forKey: field.name) }

    /// The user has proved who they are.
    mutating func prove(with idToken: Secret) {
        if let proof { fields[proof.field] = idToken }
        isProven = true
    }

    /// What comes next. An answer that breaks its rules is removed, and asked for again.
    mutating func next(at now: Moment, message: String? = nil) -> Next {
        if steps.step != nil { return steps.question(of: method).map(Next.ask) ?? .finish }
        let (unmet, words) = unmetFields(at: now)
        for field in unmet { fields[field.name] = nil }
        // A code that is known already needs no challenge, unless a later request needs what its response has.
        if let challenge = method.challenge, sent == nil,
            fields[challenge.field] == nil || !challenge.request.captures.isEmpty
        {
            let missing = profile.missing(fields: fields, challenge: challenge, of: method)
            guard unmet.isEmpty, missing.isEmpty else {
                return .ask(question(missing, unmet, words) { method.isAskedFirst($0.name) })
            }
            return .sendChallenge
        }
        var missing = profile.missing(fields: fields, method: method)
        let isToProve = !isProven && missing.contains { $0.name == proof?.field }
        if isToProve, let proof {
            missing.removeAll { $0.name == proof.field }
            missing += proof.fields.filter { fields[$0.name] == nil }
        }
        // If nothing is needed and nothing was given, the user is asked once what they want to give.
        let isBlank = fields.isEmpty && !hasAsked && !method.fields.isEmpty && method.fields.allSatisfy(\.optional)
        guard unmet.isEmpty, missing.isEmpty, !isBlank else {
            // What the challenge needed was asked before it was sent.
            return .ask(
                question(missing, unmet, words ?? message) { field in
                    sent == nil || !method.isAskedFirst(field.name)
                })
        }
        return (isToProve ? .browser : method.flow).map(Next.authorize) ?? .finish
    }

    /// The fields among these whose answers break rules, and each broken rule in words. Nothing is kept.
    /// - Throws: `validation` for a field that is not asked for.
    func check(_ answers: [String: String], at now: Moment) throws(AgentError) -> ([StepField], String?) {
        var form = self
        // The earlier answers keep their rules.
        form.fields = [:]
        try form.accept(answers)
        guard form.steps.step == nil else { return form.steps.unmetFields(of: method, among: Set(answers.keys)) }
        return form.unmetFields(at: now)
    }

    mutating func challengeSent(at now: Moment) {
        guard let challenge = method.challenge else { return }
        fields[challenge.field] = nil
        sent = SentChallenge(
            place: place(of: challenge), endsAt: challenge.lifetime.map { now.boot + $0 },
            againAt: now.boot + challenge.pause)
    }

    /// - Throws: `unsupported` if nothing was sent, `rate_limited` before the challenge's pause is over.
    func checkResend(at now: BootInstant) throws(AgentError) {
        guard let sent, steps.step == nil else {
            throw AgentError(.unsupported, "\(method.label) has sent nothing that could be sent again.")
        }
        guard now >= sent.againAt else {
            throw AgentError(
                .rateLimited, "Another one can be sent in \(Int((sent.againAt - now).seconds.rounded(.up))) s.",
                retryAfter: sent.againAt - now)
        }
    }

    /// What is asked again after the provider has refused the answer to a challenge; `nil`: nothing, the sign-in ends.
    mutating func correction(after error: AgentError) -> SignInQuestion? {
        if steps.step != nil { return steps.correction(after: error) }
        guard let challenge = method.challenge, sent != nil,
            [ErrorKind.validation, .refused].contains(error.kind), corrections < Self.maxCorrections
        else { return nil }
        corrections += 1
        let asked = profile.fieldsAfter(challenge, of: method)
        for field in asked { fields[field.name] = nil }
        return SignInQuestion(fields: asked, message: error.providerMessage ?? error.message, error: error)
    }

    /// Asks for what is missing, and with it for what may be given; an answer that breaks its rules is asked for alone.
    private func question(
        _ missing: [StepField], _ unmet: [StepField], _ message: String?, among isAsked: (StepField) -> Bool
    ) -> SignInQuestion {
        let (missing, unmet) = (Set(missing.map(\.name)), Set(unmet.map(\.name)))
        let asked = ownFields.filter { field in
            guard isAsked(field) || unmet.contains(field.name) else { return false }
            if missing.contains(field.name) || unmet.contains(field.name) { return true }
            return unmet.isEmpty && fields[field.name] == nil && (field.optional || field.value != nil)
        }
        return SignInQuestion(fields: asked, message: message)
    }

    /// The answers that break rules, and each broken rule in words.
    private func unmetFields(at now: Moment) -> ([StepField], String?) {
        var unmet: [StepField] = []
        var words: [String] = []
        for field in method.fields {
            guard let answer = fields[field.name] else { continue }
            var broken = profile.check(fields: [field.name: answer], method: method)
            if broken.isEmpty, let expired = expiry(of: field, answer, now) { broken = [expired] }
            guard !broken.isEmpty else { continue }
            unmet.append(field)
            words += broken
        }
        return (unmet, words.isEmpty ? nil : words.joined(separator: "\n"))
    }

    private func expiry(of field: StepField, _ answer: Secret, _ now: Moment) -> String? {
        if field.kind == FieldKind.idToken, let end = JWTClaims.expiry(of: answer), end <= now.wall {
            return "\(field.label): a token that has not expired"
        }
        if field.name == method.challenge?.field, let end = sent?.endsAt, end <= now.boot {
            return "\(field.label): the code has expired; request another"
        }
        return nil
    }

    private func place(of challenge: Challenge) -> String? {
        let values = TemplateValues(environment: environment, fields: fields, method: method)
        if let template = challenge.sentTo { return template.fill(values) }
        let field = method.fields.first { field in
            field.kind == FieldKind.email && ProviderProfile.uses(challenge.request, field: field.name)
        }
        return field.flatMap { fields[$0.name]?.reveal() }
    }
}
