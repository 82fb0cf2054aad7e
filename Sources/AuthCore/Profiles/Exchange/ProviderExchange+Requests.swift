package import AuthWire

extension ProviderExchange {
    /// - Parameter environment: by name.
    /// - Throws: ``ErrorKind/validation`` when a field is missing, breaks its rules, or cannot stand where it has to go.
    package func signInRequest(
        method: SignInMethod, environment: String, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        let missing = missing(fields: fields, method: method)
        guard missing.isEmpty else {
            let labels = missing.map(\.label).joined(separator: ", ")
            throw AgentError(.validation, "Signing in to \(profile.title) also needs: \(labels).")
        }
        let unmet = check(fields: fields, method: method)
        guard unmet.isEmpty else {
            throw AgentError(
                .validation, "\(profile.title) would not take these answers. Nothing was sent.", details: unmet)
        }
        var answers = fields.filter { name, _ in method.fields.contains { $0.name == name } }
        for field in method.fields where answers[field.name]?.isEmpty ?? true {
            answers[field.name] = field.value.map(Secret.init)
        }
        let values = TemplateValues(environment: environment, fields: answers)
        return try RequestBuilder(
            profile: profile, environment: try self.environment(named: environment), values: values
        )
        .build(method.request)
    }

    /// `nil`: nothing renews this session without a person. That is so when the profile renews by nothing, by a
    /// sign-in that was not remembered, or by a refresh token that was never given.
    package func renewalRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        switch profile.renewal.kind {
        case .none: return nil
        case .refresh, .validate:
            guard let template = profile.renewal.request else { return nil }
            let needsRefreshToken = template.placeholders.contains(TemplateValues.Name.refreshToken)
            guard !needsRefreshToken || record.tokens.refreshToken?.isEmpty == false else { return nil }
            return try request(template, record)
        case .signIn:
            guard let remembered = record.remembered, let method = try? method(named: record.method),
                missing(fields: remembered, method: method).isEmpty
            else { return nil }
            return try signInRequest(method: method, environment: record.environment, fields: remembered)
        }
    }

    /// `nil`: the provider cannot be asked; the token's own end is all there is.
    package func validationRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(profile.validation, record)
    }

    /// `nil`: the user is known only from sign-in.
    package func userRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(profile.userRequest?.request, record)
    }

    /// `nil`: signing out is local.
    package func signOutRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(profile.signOut, record)
    }

    private func request(_ template: RequestTemplate?, _ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        guard let template else { return nil }
        let environment = try environment(named: record.environment)
        return try RequestBuilder(profile: profile, environment: environment, values: TemplateValues(record))
            .build(template)
    }
}
