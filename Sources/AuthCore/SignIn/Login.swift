package import AuthWire

/// One sign-in under way: what was chosen, and what was given so far.
///
/// A value that decides; ``LoginDesk`` does.
package struct Login: Sendable {
    package enum Stage: Sendable {
        /// Waits for the client to answer.
        case asking([StepField], message: String?)
        /// Everything is there; the provider is being asked.
        case working
    }

    package let id: String
    package let session: SessionName
    package let profile: ProviderProfile
    package let environment: String
    package let method: SignInMethod
    package let remember: Bool
    package private(set) var fields: [String: Secret] = [:]
    package private(set) var stage = Stage.working
    package private(set) var lastTouched: BootInstant

    /// - Throws: `validation` for an environment or method that the profile has not.
    package init(
        id: String, params: LoginStartParams, profile: ProviderProfile, now: BootInstant
    ) throws(AgentError) {
        self.id = id
        self.profile = profile
        lastTouched = now
        remember = params.remember
        if let name = params.session { session = name } else { session = try SessionName(profile.name) }
        let exchange = ProviderExchange(profile: profile)
        environment = try exchange.environment(named: params.environment).name
        method = try exchange.method(named: params.method)
        try take(params.fields, at: now)
    }

    /// Takes what the client gave. Afterwards the stage says whether more is needed.
    /// - Throws: `validation` for a field that the method has not.
    package mutating func take(_ given: [String: String], at now: BootInstant) throws(AgentError) {
        lastTouched = now
        let known = Set(method.fields.map(\.name))
        if let stranger = given.keys.filter({ !known.contains($0) }).min() {
            throw AgentError(
                .validation, "Sign-in method \(method.name) has no field \(stranger).",
                details: method.fields.map(\.name))
        }
        for (name, value) in given where !value.isEmpty { fields[name] = Secret(value) }
        let exchange = ProviderExchange(profile: profile)
        let missing = exchange.missing(fields: fields, method: method)
        let unmet = method.fields.filter { field in
            fields[field.name].map { !exchange.check(fields: [field.name: $0], method: method).isEmpty } ?? false
        }
        if !unmet.isEmpty {
            // Wrong input is told before anything is sent, and asked for again.
            let message = exchange.check(fields: fields, method: method).joined(separator: "\n")
            for field in unmet { fields[field.name] = nil }
            let again = method.fields.filter { field in
                unmet.contains { $0.name == field.name } || missing.contains { $0.name == field.name }
            }
            stage = .asking(again, message: message)
        } else if !missing.isEmpty {
            stage = .asking(missing, message: nil)
        } else {
            stage = .working
        }
    }

    /// The record of the session that this sign-in began.
    package func record(from grant: Grant, now: Moment) throws(AgentError) -> SessionRecord {
        guard let token = grant.accessToken else {
            throw AgentError(.badReply, "The provider said yes and gave no token.")
        }
        return SessionRecord(
            session: session, provider: profile.name, environment: environment, method: method.name,
            tokens: TokenSet(
                accessToken: token, tokenType: grant.tokenType ?? "Bearer", refreshToken: grant.refreshToken,
                issuedAt: grant.issuedAt, expiresAt: grant.expiresAt),
            user: grant.user, rawUser: grant.rawUser, needsPassword: grant.needsPassword ?? false,
            signedInAt: now.wall, remembered: remember ? fields : nil)
    }
}
