package import AuthWire

/// What is sent to the provider for the profile, and what its responses mean, is in this and the next two files. These
/// functions do not wait, read no clock and keep nothing.
extension ProviderProfile {
    /// - Parameter name: `nil` for the first one of the profile.
    /// - Throws: ``ErrorKind/unsupported`` naming the methods there are.
    package func method(named name: String?) throws(AgentError) -> SignInMethod {
        guard let found = name.map({ name in signIn.first { $0.name == name } }) ?? signIn.first else {
            let known = signIn.map(\.name).joined(separator: ", ")
            throw AgentError(
                .unsupported, "\(title) has no sign-in method with that name; it has: \(known).",
                cause: "unknown_method")
        }
        return found
    }

    /// - Parameter name: `nil` for the profile's default.
    /// - Throws: ``ErrorKind/unsupported`` naming the environments there are.
    package func environment(named name: String?) throws(AgentError) -> ProviderEnvironment {
        let wanted = name ?? defaultEnvironment
        guard let found = environments.first(where: { $0.name == wanted }) else {
            let known = environments.map(\.name).joined(separator: ", ")
            throw AgentError(
                .unsupported, "\(title) has no environment with that name; it has: \(known).",
                cause: "unknown_environment")
        }
        return found
    }

    /// What a method still asks for: fields that are neither given, nor optional, nor have a value to begin with.
    package func missing(fields: [String: Secret], method: SignInMethod) -> [StepField] {
        method.fields.filter { !$0.optional && $0.value == nil && (fields[$0.name]?.isEmpty ?? true) }
    }

    /// What a challenge still asks for: those of the missing fields that its request uses.
    package func missing(fields: [String: Secret], challenge: Challenge, of method: SignInMethod) -> [StepField] {
        missing(fields: fields, method: method).filter { Self.uses(challenge.request, field: $0.name) }
    }

    /// The fields that are asked once a challenge was sent.
    package func fieldsAfter(_ challenge: Challenge, of method: SignInMethod) -> [StepField] {
        method.fields.filter { !Self.uses(challenge.request, field: $0.name) }
    }

    /// The sign-in that is made again without the user: by a renewal of kind ``Renewal/Kind/signIn``, and after the end of a
    /// token that takes part in its own renewal.
    package var repeatedMethod: SignInMethod? {
        switch renewal.kind {
        case .signIn:
            return renewal.method.map { name in signIn.first { $0.name == name } }
                ?? signIn.first
        case .refresh, .validate:
            guard renewsByToken, let method = signIn.first, method.isRepeatable else { return nil }
            return method
        case .none: return nil
        }
    }

    /// Whether the access token itself authorizes its renewal: nothing renews it after its end.
    package var renewsByToken: Bool {
        guard oauth == nil, let request = renewal.request else { return false }
        return !request.placeholders.contains(TemplateValues.Name.refreshToken)
    }

    /// Whether a request says something of a field: all of it, or a claim of it.
    package static func uses(_ request: RequestTemplate, field: String) -> Bool {
        request.placeholders.contains { $0 == field || $0.hasPrefix(field + ".") }
    }

    /// What the given fields are not like, in words, each with its field's label. Nothing is sent while this says
    /// something.
    package func check(fields: [String: Secret], method: SignInMethod) -> [String] {
        method.fields.flatMap { field -> [String] in
            guard let rules = method.rules[field.name], let answer = fields[field.name], !answer.isEmpty else {
                return []
            }
            let text = answer.reveal()
            return rules.filter { !$0.isSatisfied(by: text) }.map { "\(field.label): \($0.requirement)" }
        }
    }
}

extension SignInMethod {
    /// Whether the same answers sign in a second time.
    fileprivate var isRepeatable: Bool {
        challenge == nil && flow == nil
            && !fields.contains { [FieldKind.code, FieldKind.idToken, FieldKind.newPassword].contains($0.kind) }
    }
}
