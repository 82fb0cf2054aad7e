package import AuthWire

extension ProviderProfile {
    /// - Parameter environment: by name.
    /// - Throws: ``ErrorKind/validation`` when a field is missing, breaks its rules, or cannot stand where it has to go.
    package func signInRequest(
        method: SignInMethod, environment: String, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        try validate(fields, method, missing: missing(fields: fields, method: method))
        return try request(ownRequest(method), method, environment, fields)
    }

    /// What goes before the sign-in's own request. Throws as that does.
    package func request(
        _ first: FirstRequest, of method: SignInMethod, environment: String, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        try validate(fields, method, missing: missing(fields: fields, method: method))
        return try request(first.request, method, environment, fields)
    }

    /// Has the provider send the challenge. Throws as a sign-in does, for the fields that it needs.
    package func challengeRequest(
        _ challenge: Challenge, of method: SignInMethod, environment: String, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        try validate(fields, method, missing: missing(fields: fields, challenge: challenge, of: method))
        return try request(challenge.request, method, environment, fields)
    }

    /// What is done about an account with its session's token. Throws as a sign-in does.
    package func accountRequest(
        method: SignInMethod, record: SessionRecord, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        try validate(fields, method, missing: missing(fields: fields, method: method))
        return try RequestBuilder(
            profile: self, environment: try environment(named: record.environment),
            values: TemplateValues(record, fields: fields, method: method)
        )
        .build(ownRequest(method))
    }

    private func ownRequest(_ method: SignInMethod) throws(AgentError) -> RequestTemplate {
        if let request = method.request { return request }
        throw AgentError(.unsupported, "\(method.label) at \(title) has no request in the profile.")
    }

    private func validate(
        _ fields: [String: Secret], _ method: SignInMethod, missing: [StepField]
    ) throws(AgentError) {
        guard missing.isEmpty else {
            let labels = missing.map(\.label).joined(separator: ", ")
            throw AgentError(.validation, "\(method.label) at \(title) also needs: \(labels).")
        }
        let broken = check(fields: fields, method: method)
        guard broken.isEmpty else {
            throw AgentError(
                .validation, "\(title) would not accept these answers. Nothing was sent.", details: broken)
        }
    }

    private func request(
        _ template: RequestTemplate, _ method: SignInMethod, _ environment: String, _ fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        let values = TemplateValues(environment: environment, fields: fields, method: method)
        return try RequestBuilder(
            profile: self, environment: try self.environment(named: environment), values: values
        )
        .build(template)
    }

    /// `nil`: nothing renews this session without a person. That is so when the profile renews by nothing, by a
    /// sign-in that was not remembered, or by a refresh token that was never given.
    package func renewalRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        switch renewal.kind {
        case .none: return nil
        case .refresh, .validate:
            guard let template = renewal.request else { return nil }
            let needsRefreshToken = template.placeholders.contains(TemplateValues.Name.refreshToken)
            guard !needsRefreshToken || record.tokens.refreshToken?.isEmpty == false else { return nil }
            return try request(template, record)
        case .signIn: return try repeatedSignInRequest(record)
        }
    }

    /// `nil`: no sign-in is remembered that could be made again.
    package func repeatedSignInRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        guard let remembered = record.remembered, let method = repeatedMethod,
            missing(fields: remembered, method: method).isEmpty
        else { return nil }
        return try signInRequest(method: method, environment: record.environment, fields: remembered)
    }

    /// `nil`: the provider cannot be asked; the token's own end is all there is.
    package func validationRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(self.validation, record)
    }

    /// `nil`: the user is known only from sign-in.
    package func userRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(self.userRequest?.request, record)
    }

    /// `nil`: the provider has no request for it.
    /// - Throws: ``ErrorKind/validation`` naming what cannot be changed.
    package func userUpdateRequest(
        _ record: SessionRecord, changes: JSONObject
    ) throws(AgentError) -> HTTPRequest? {
        guard let update = self.userUpdate else { return nil }
        let unknown = changes.map(\.key).filter { !update.fields.contains($0) }
        guard unknown.isEmpty else {
            throw AgentError(
                .validation,
                "\(title) does not allow these changes: \(unknown.joined(separator: ", ")). Nothing was sent.",
                details: ["It accepts: \(update.fields.joined(separator: ", "))"])
        }
        guard !changes.isEmpty else {
            throw AgentError(
                .validation,
                "There is nothing to change; \(title) accepts: \(update.fields.joined(separator: ", ")).")
        }
        let environment = try environment(named: record.environment)
        return try RequestBuilder(profile: self, environment: environment, values: TemplateValues(record))
            .build(update.request, adding: changes)
    }

    /// `nil`: signing out is local.
    package func signOutRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(self.signOut, record)
    }

    private func request(_ template: RequestTemplate?, _ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        guard let template else { return nil }
        let environment = try environment(named: record.environment)
        return try RequestBuilder(profile: self, environment: environment, values: TemplateValues(record))
            .build(template)
    }
}
