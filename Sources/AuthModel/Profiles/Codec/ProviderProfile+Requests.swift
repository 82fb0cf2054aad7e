package import AuthWire

extension ProviderProfile {
    /// - Parameter environment: by name.
    /// - Throws: ``ErrorKind/validation`` if a field is missing, violates its rules, or is not allowed at its place.
    package func signInRequest(
        method: SignInMethod, environment: String, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        try request(.own, of: method, SignInValues(environment: environment, fields: fields))
    }

    /// One request of a sign-in. Throws the same errors, for the fields that it needs, and ``ErrorKind/badReply`` if no
    /// response had a value that it needs.
    package func request(
        _ part: SignInPart, of method: SignInMethod, _ given: SignInValues
    ) throws(AgentError) -> HTTPRequest {
        var missing = missing(fields: given.fields, method: method)
        switch part {
        case .before(let index):
            missing = missing.filter {
                method.before.indices.contains(index) && Self.uses(method.before[index], field: $0.name)
            }
        case .challenge: missing = missing.filter { method.isAskedFirst($0.name) }
        case .first, .own, .step, .check: break
        }
        let template = try checked(template(of: part, method), method, given.fields, missing: missing)
        try checkCaptures(for: part, of: method, given)
        var values = TemplateValues(given, method: method)
        if part == .check, let key = method.key { values.accessToken = try token(of: key, values) }
        var request = try build(template, in: given.environment, values)
        request.acceptsRedirects = success(of: part, method) != nil
        return request
    }

    /// Which response to this request is a success; `nil`: any 2xx.
    func success(of part: SignInPart, _ method: SignInMethod) -> ResponseRule? {
        let map = reply.overridden(by: method.reply)
        return switch part {
        case .own: map.success
        case .step(let index): map.overridden(by: method.next[index].reply).success
        case .before, .challenge, .first, .check: nil
        }
    }

    /// - Throws: ``ErrorKind/badReply`` if no response had a value that this request needs.
    package func checkCaptures(
        for part: SignInPart, of method: SignInMethod, _ given: SignInValues
    ) throws(AgentError) {
        guard let template = template(of: part, method) else { return }
        for name in template.placeholders where given.captured[name] == nil && given.stepFields[name] == nil {
            guard let place = method.places(ofCapture: name).first else { continue }
            throw AgentError(
                .badReply,
                "A response of \(title) has no value at \(place.text), which the next request needs as {\(name)}.",
                cause: "no_capture", retryable: false)
        }
    }

    func template(of part: SignInPart, _ method: SignInMethod) -> RequestTemplate? {
        switch part {
        case .before(let index): method.before.indices.contains(index) ? method.before[index] : nil
        case .challenge: method.challenge?.request
        case .first: method.first?.request
        case .own: method.request
        case .step(let index): method.next.indices.contains(index) ? method.next[index].request : nil
        case .check: method.key.flatMap(check)
        }
    }

    /// A request about the account, with its session's token. Throws the same errors.
    package func accountRequest(
        method: SignInMethod, record: SessionRecord, fields: [String: Secret]
    ) throws(AgentError) -> HTTPRequest {
        let template = try checked(
            method.request, method, fields, missing: missing(fields: fields, method: method))
        let values = TemplateValues(record, fields: fields, method: method)
        return try build(template, in: record.environment, values)
    }

    /// - Returns: the template, if there is one and the fields are complete and satisfy their rules.
    private func checked(
        _ template: RequestTemplate?, _ method: SignInMethod, _ fields: [String: Secret], missing: [StepField]
    ) throws(AgentError) -> RequestTemplate {
        guard missing.isEmpty else {
            let labels = missing.map(\.label).joined(separator: ", ")
            throw AgentError(.validation, "\(method.label) at \(title) also needs: \(labels).")
        }
        let broken = check(fields: fields, method: method)
        guard broken.isEmpty else {
            throw AgentError(
                .validation, "\(title) would not accept these answers. Nothing was sent.", details: broken)
        }
        guard let template else {
            throw AgentError(.unsupported, "\(method.label) at \(title) has no request in the profile.")
        }
        return template
    }

    /// `nil`: no single request renews this session: the profile has none, or the provider issued no refresh token. A sign-in
    /// that is repeated is ``repeatedSignIn(_:)``.
    package func renewalRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        switch renewal.kind {
        case .none: return nil
        case .refresh, .validate:
            guard let template = renewal.request else { return nil }
            let needsRefreshToken =
                renewsByCookie || template.placeholders.contains(TemplateValues.Name.refreshToken)
            guard !needsRefreshToken || record.tokens.refreshToken?.isEmpty == false else { return nil }
            var request = try request(template, record)
            request?.acceptsRedirects = renewal.reply?.success != nil
            return request
        case .signIn:
            _ = try repeatedSignIn(record)
            return nil
        }
    }

    /// `nil`: no sign-in that can be repeated is remembered.
    /// - Throws: if the answers no longer fit the profile.
    package func repeatedSignIn(
        _ record: SessionRecord
    ) throws(AgentError) -> (method: SignInMethod, values: SignInValues)? {
        guard let remembered = record.remembered, let method = repeatedMethod,
            missing(fields: remembered, method: method).isEmpty
        else { return nil }
        _ = try checked(method.request, method, remembered, missing: [])
        let environment = try environment(named: record.environment).name
        return (method, SignInValues(environment: environment, fields: remembered))
    }

    /// `nil`: the profile has no such request; only the token's expiry is known.
    package func validationRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(self.validation, record)
    }

    /// `nil`: the user is known only from sign-in.
    package func userRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        try request(self.userRequest?.request, record)
    }

    /// `nil`: the provider has no request for it.
    /// - Throws: ``ErrorKind/validation`` with the names that cannot be changed.
    package func userUpdateRequest(
        _ record: SessionRecord, changes: JSONObject
    ) throws(AgentError) -> HTTPRequest? {
        guard let update = self.userUpdate else { return nil }
        let unknown = changes.map(\.key).filter { !update.fields.contains($0) }
        guard unknown.isEmpty else {
            let meant = unknown.lazy.compactMap { Suggestion.nearest(to: $0, among: update.fields) }.first
            throw AgentError(
                .validation,
                "\(title) does not allow these changes: \(unknown.joined(separator: ", ")). Nothing was sent."
                    + (meant.map { " Did you mean \($0)?" } ?? ""),
                details: ["It accepts: \(update.fields.joined(separator: ", "))"])
        }
        guard !changes.isEmpty else {
            throw AgentError(
                .validation,
                "There is nothing to change; \(title) accepts: \(update.fields.joined(separator: ", ")).")
        }
        return try build(update.request, in: record.environment, TemplateValues(record), adding: changes)
    }

    /// `nil`: signing out is local.
    package func signOutRequest(_ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        var request = try request(self.signOut, record)
        request?.acceptsRedirects = signOutSuccess != nil
        return request
    }

    private func request(_ template: RequestTemplate?, _ record: SessionRecord) throws(AgentError) -> HTTPRequest? {
        guard let template else { return nil }
        return try build(template, in: record.environment, TemplateValues(record))
    }

    private func build(
        _ template: RequestTemplate, in environment: String, _ values: TemplateValues, adding members: JSONObject = [:]
    ) throws(AgentError) -> HTTPRequest {
        try RequestBuilder(profile: self, environment: try self.environment(named: environment), values: values)
            .build(template, adding: members)
    }
}
