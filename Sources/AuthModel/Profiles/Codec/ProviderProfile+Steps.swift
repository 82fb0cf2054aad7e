import AuthWire

/// Reads the responses of a sign-in.
extension ProviderProfile {
    /// More cannot be chosen from on a terminal.
    private static let mostChoices = 100

    /// The response to one request of a sign-in. The rules of the steps are compared before errors are reported.
    /// - Parameter purpose: ``ErrorDecoder/Purpose/renewal`` for a remembered sign-in: it ends the session if the provider
    ///   finally refuses it or asks for a step.
    package func read(
        _ reply: HTTPResponse, to part: SignInPart, of method: SignInMethod, _ given: SignInValues,
        purpose: ErrorDecoder.Purpose = .signIn, sentAt: WallTime
    ) throws(ProviderFailure) -> SignInResponse {
        let body = ResponseBody(reply)
        let errors = ErrorDecoder(profile: self, purpose: purpose, sentAt: sentAt)
        var response: SignInResponse
        var captures = template(of: part, method)?.captures ?? []
        if let index = step(after: reply, body, to: part, of: method) {
            if purpose == .renewal { throw unansweredStep(reply, body) }
            captures += method.next[index].captures
            response = SignInResponse(step: try requested(index, reply, body, of: method, errors))
        } else {
            response = try content(reply, body, to: part, of: method, given, errors)
        }
        for capture in captures {
            response.captured[capture.name] = capture.place.find(in: reply, body).flatMap(IssuedValue.init)
        }
        return response
    }

    private func content(
        _ reply: HTTPResponse, _ body: ResponseBody, to part: SignInPart, of method: SignInMethod,
        _ given: SignInValues, _ errors: ErrorDecoder
    ) throws(ProviderFailure) -> SignInResponse {
        let sentAt = errors.sentAt ?? WallTime(unixSeconds: 0)
        var map = self.reply.overridden(by: method.reply)
        switch part {
        case .before:
            // A page may be what a header or cookie is captured from.
            guard (200..<300).contains(reply.status) else { throw errors.failure(reply, body) }
            if body.json != nil, let failure = errors.envelopeFailure(reply, body) { throw failure }
            return SignInResponse()
        case .challenge: return SignInResponse(message: try readMessage(reply, sentAt: sentAt))
        case .first:
            map = map.withoutSuccess
            if let first = method.first, first.existingStatuses.contains(reply.status) { return SignInResponse() }
            let grant = try decode(reply, .signIn, sentAt, map, needsToken: false)
            let check = TokenDecoder(errors: errors, map: map)
            // An incomplete response does not sign in either: the sign-in's own request follows.
            guard grant.accessToken != nil, (try? check.checkComplete(grant, status: reply.status)) != nil else {
                return SignInResponse()
            }
            return SignInResponse(grant: grant)
        case .own:
            if errors.purpose == .renewal, renewal.kind == .signIn { map = map.overridden(by: renewal.reply) }
        case .step(let index): map = map.overridden(by: method.next[index].reply)
        case .check:
            guard let key = method.key else { return SignInResponse() }
            return SignInResponse(grant: try readCheck(reply, of: key, method, given, sentAt: sentAt))
        }
        return SignInResponse(grant: try decode(reply, errors.purpose, sentAt, map, isSignIn: true))
    }

    // MARK: Steps

    /// The step that a response asks for. A page or an unreadable body may come from any machine on the way, so it asks for
    /// nothing.
    private func step(
        after reply: HTTPResponse, _ body: ResponseBody, to part: SignInPart, of method: SignInMethod
    ) -> Int? {
        switch body {
        case .page, .undecodable: return nil
        case .empty, .json, .text: break
        }
        if case .step(let index) = part, let pending = method.next[index].poll?.pending, holds(pending, reply, body) {
            return index
        }
        return method.next.firstIndex { holds($0.rule, reply, body) }
    }

    func isSuccess(_ reply: HTTPResponse, _ body: ResponseBody, by rule: ResponseRule) -> Bool {
        (!rule.statuses.isEmpty || (200..<300).contains(reply.status)) && holds(rule, reply, body)
    }

    private func holds(_ rule: ResponseRule, _ reply: HTTPResponse, _ body: ResponseBody) -> Bool {
        rule.holds(reply, body) { ErrorText(body, map: errors).completed(by: TokenChallenge(reply)).code }
    }

    private func requested(
        _ index: Int, _ reply: HTTPResponse, _ body: ResponseBody, of method: SignInMethod, _ errors: ErrorDecoder
    ) throws(ProviderFailure) -> RequestedStep {
        let step = method.next[index]
        var requested = RequestedStep(index: index, fields: step.fields)
        for (place, field) in step.fields.enumerated() {
            guard let list = step.choices[field.name] else { continue }
            let (choices, values) = choices(list, body)
            guard !choices.isEmpty else {
                throw errors.badReply(
                    "it has nothing to choose from at '\(list.list.text)'", cause: "no_choices", status: reply.status)
            }
            requested.fields[place].choices = choices
            requested.choices[field.name] = values
        }
        let words: String? =
            switch step.message {
            case .text(let text): text
            case .pointer(let pointer): body.json.flatMap(pointer.find)?.stringValue.flatMap(ProviderText.clean)
            case nil: nil
            }
        requested.message = words ?? ErrorText(body, map: self.errors).message
        if !(200..<300).contains(reply.status) { requested.error = errors.failure(reply, body).error }
        return requested
    }

    private func choices(_ list: ChoiceList, _ body: ResponseBody) -> ([FieldChoice], [IssuedValue]) {
        var choices: [FieldChoice] = []
        var values: [IssuedValue] = []
        for element in body.json.flatMap(list.list.find)?.arrayValue?.prefix(Self.mostChoices) ?? [] {
            // What is shown and typed is what is sent.
            guard let value = list.value.find(in: element).flatMap(IssuedValue.init),
                ProviderText.clean(value.text.reveal()) == value.text.reveal(), !values.contains(value)
            else { continue }
            let label = list.label?.find(in: element)
            values.append(value)
            choices.append(
                FieldChoice(
                    value: value.text.reveal(),
                    label: label.flatMap { ProviderText.clean($0.stringValue ?? $0.text()) } ?? value.text.reveal()))
        }
        return (choices, values)
    }

    /// A remembered sign-in that the provider now wants more for.
    private func unansweredStep(_ reply: HTTPResponse, _ body: ResponseBody) -> ProviderFailure {
        let words = ErrorText(body, map: errors)
        return .final(
            AgentError(
                .signInRequired, "\(title) asks for more than the remembered sign-in has: sign in again.",
                cause: "refused_by_provider", httpStatus: reply.status, providerMessage: words.message,
                details: words.details))
    }
}
