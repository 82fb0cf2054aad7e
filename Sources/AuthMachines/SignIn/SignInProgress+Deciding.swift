import AuthModel
import AuthWire

/// What comes next, by what was given so far.
extension SignInProgress {
    mutating func decide(at now: Moment, message: String? = nil) {
        let exchange = ProviderExchange(profile: profile)
        let (unmet, words) = unmetFields(at: now)
        for field in unmet { fields[field.name] = nil }
        if let challenge = method.challenge, fields[challenge.field] == nil, sent == nil {
            let missing = exchange.missing(fields: fields, challenge: challenge, of: method)
            guard unmet.isEmpty, missing.isEmpty else {
                return ask(missing, unmet, words) { ProviderExchange.uses(challenge.request, field: $0.name) }
            }
            stage = .challenging(challenge)
            return
        }
        var missing = exchange.missing(fields: fields, method: method)
        let isToProve = !isProven && missing.contains { $0.name == proof?.field }
        if isToProve, let proof {
            missing.removeAll { $0.name == proof.field }
            missing += proof.fields.filter { fields[$0.name] == nil }
        }
        // Where nothing is needed and nothing was given, somebody who wants to give something is asked.
        let isBlank = fields.isEmpty && !hasAsked && !method.fields.isEmpty && method.fields.allSatisfy(\.optional)
        guard unmet.isEmpty, missing.isEmpty, !isBlank else {
            // What the sending needed was asked before it.
            return ask(missing, unmet, words ?? message) { [sent, method] field in
                guard sent != nil, let challenge = method.challenge else { return true }
                return !ProviderExchange.uses(challenge.request, field: field.name)
            }
        }
        if let flow = isToProve ? .browser : method.flow, grant == nil {
            stage = .authorizing(flow)
        } else {
            stage = .finishing
        }
    }

    /// Asks for what is missing, and with it for what may be given; what was wrong is asked for alone.
    private mutating func ask(
        _ missing: [StepField], _ unmet: [StepField], _ message: String?, among isMeant: (StepField) -> Bool
    ) {
        hasAsked = true
        let asked = ownFields.filter { field in
            guard isMeant(field) || unmet.contains(where: { $0.name == field.name }) else { return false }
            if missing.contains(where: { $0.name == field.name }) || unmet.contains(where: { $0.name == field.name }) {
                return true
            }
            return unmet.isEmpty && fields[field.name] == nil && (field.optional || field.value != nil)
        }
        stage = .asking(Question(fields: asked, message: message))
    }

    /// What breaks the rules, and each rule that it breaks in words.
    private func unmetFields(at now: Moment) -> ([StepField], String?) {
        let exchange = ProviderExchange(profile: profile)
        var unmet: [StepField] = []
        var words: [String] = []
        for field in method.fields {
            guard let answer = fields[field.name] else { continue }
            var broken = exchange.check(fields: [field.name: answer], method: method)
            if broken.isEmpty, let ended = hasEnded(field, answer, now) { broken = [ended] }
            guard !broken.isEmpty else { continue }
            unmet.append(field)
            words += broken
        }
        return (unmet, words.isEmpty ? nil : words.joined(separator: "\n"))
    }

    private func hasEnded(_ field: StepField, _ answer: Secret, _ now: Moment) -> String? {
        if field.kind == FieldKind.idToken, let end = JWTClaims.expiry(of: answer), end <= now.wall {
            return "\(field.label): one that has not ended"
        }
        if field.name == method.challenge?.field, let end = sent?.endsAt, end <= now.boot {
            return "\(field.label): the one that was sent has ended; ask for another"
        }
        return nil
    }

    func place(of challenge: Challenge) -> String? {
        let values = TemplateValues(environment: environment, fields: fields, method: method)
        if let template = challenge.sentTo { return template.fill(values) }
        let field = method.fields.first { field in
            field.kind == FieldKind.email && ProviderExchange.uses(challenge.request, field: field.name)
        }
        return field.flatMap { fields[$0.name]?.reveal() }
    }
}
