package import AuthWire

/// This and the next two files build a profile's requests and decode their responses. These functions do not wait, read a clock
/// or keep state.
extension ProviderProfile {
    /// - Parameter name: `nil` for the first one of the profile.
    /// - Throws: ``ErrorKind/unsupported`` with the names of all methods.
    package func method(named name: String?) throws(AgentError) -> SignInMethod {
        guard let found = name.map({ name in signIn.first { $0.name == name } }) ?? signIn.first else {
            let known = signIn.map(\.name)
            throw AgentError(
                .unsupported, "\(title) has no sign-in method with that name\(Self.near(name, known))",
                cause: "unknown_method")
        }
        return found
    }

    /// - Parameter name: `nil` for the profile's default.
    /// - Throws: ``ErrorKind/unsupported`` with the names of all environments.
    package func environment(named name: String?) throws(AgentError) -> ProviderEnvironment {
        let wanted = name ?? defaultEnvironment
        guard let found = environments.first(where: { $0.name == wanted }) else {
            let known = environments.map(\.name)
            throw AgentError(
                .unsupported, "\(title) has no environment with that name\(Self.near(name, known))",
                cause: "unknown_environment")
        }
        return found
    }

    /// All names, and the one that was perhaps meant.
    private static func near(_ name: String?, _ known: [String]) -> String {
        let meant = name.flatMap { Suggestion.nearest(to: $0, among: known) }.map { " (did you mean \($0)?)" } ?? ""
        return "\(meant); it has: \(known.joined(separator: ", "))."
    }

    /// What the paths of a host's requests are appended to.
    /// - Parameter host: `nil` for the environment's own.
    /// - Throws: ``ErrorKind/unsupported`` if the profile has no address for it.
    package func address(of host: String?, in environment: ProviderEnvironment) throws(AgentError) -> String {
        guard let host else { return environment.baseURL }
        let addresses = hosts.first { $0.name == host }?.addresses
        guard let address = addresses?[environment.name] ?? addresses?[nil] else {
            throw AgentError(
                .unsupported, "\(title) has no address for the host \(host) in the environment \(environment.name).",
                cause: "unknown_host")
        }
        return address
    }

    /// The fields that a method still needs: not given, not optional, and without an initial value.
    package func missing(fields: [String: Secret], method: SignInMethod) -> [StepField] {
        method.fields.filter { !$0.optional && $0.value == nil && (fields[$0.name]?.isEmpty ?? true) }
    }

    /// The fields that a challenge still needs: missing ones that its request uses.
    package func missing(fields: [String: Secret], challenge: Challenge, of method: SignInMethod) -> [StepField] {
        missing(fields: fields, method: method).filter { method.isAskedFirst($0.name) }
    }

    /// The fields that are requested after a challenge was sent.
    package func fieldsAfter(_ challenge: Challenge, of method: SignInMethod) -> [StepField] {
        method.fields.filter { !method.isAskedFirst($0.name) }
    }

    /// The sign-in that is repeated without the user: by a renewal of kind ``Renewal/Kind/signIn``, after the end of a token
    /// that authorizes its own renewal, and after the provider's final refusal of a renewal.
    package var repeatedMethod: SignInMethod? {
        switch renewal.kind {
        case .signIn:
            return renewal.method.map { name in signIn.first { $0.name == name } } ?? signIn.first
        case .refresh, .validate:
            guard oauth == nil, let method = signIn.first, method.isRepeatable else { return nil }
            return method
        case .none: return nil
        }
    }

    /// Whether the access token itself authorizes its renewal: nothing renews it after its end.
    package var renewsByToken: Bool {
        guard oauth == nil, !renewsByCookie, let request = renewal.request else { return false }
        return !request.placeholders.contains(TemplateValues.Name.refreshToken)
    }

    /// Whether the refresh token is one of the session's cookies, which every request has anyway.
    var renewsByCookie: Bool {
        let maps = [reply, renewal.reply].compactMap(\.self) + signIn.compactMap(\.reply)
        return keepsCookies && renewal.kind == .refresh
            && maps.contains { if case .cookie = $0.refreshToken { true } else { false } }
    }

    /// Whether a request uses a field or one of its claims.
    package static func uses(_ request: RequestTemplate, field: String) -> Bool {
        request.placeholders.contains { $0 == field || $0.hasPrefix(field + ".") }
    }

    /// The rules that the given fields violate, each with the field's label.
    package func check(fields: [String: Secret], method: SignInMethod) -> [String] {
        Self.check(fields: fields, method.fields, method.rules)
    }

    /// The same for the fields of a step.
    package static func check(
        fields: [String: Secret], _ asked: [StepField], _ rules: [String: [FieldRule]]
    ) -> [String] {
        asked.flatMap { field -> [String] in
            guard let rules = rules[field.name], let answer = fields[field.name], !answer.isEmpty else {
                return []
            }
            let text = answer.reveal()
            return rules.filter { !$0.isSatisfied(by: text) }.map { "\(field.label): \($0.requirement)" }
        }
    }
}

extension SignInMethod {
    /// Whether its request needs a value of the response to ``first``, which is not repeated.
    package var needsFirst: Bool {
        let names = first?.request.captures.map(\.name) ?? []
        return request?.placeholders.contains(where: names.contains) == true
    }

    /// Whether the same answers sign in a second time.
    fileprivate var isRepeatable: Bool {
        challenge == nil && flow == nil && key == nil && !needsFirst
            && !fields.contains { [FieldKind.code, FieldKind.idToken, FieldKind.newPassword].contains($0.kind) }
    }
}
