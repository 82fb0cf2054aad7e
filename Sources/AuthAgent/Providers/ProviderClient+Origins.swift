import AuthModel
import AuthWire

/// Where a session's tokens and credentials go, by its present profile.
extension ProviderClient {
    /// With the endpoints of the authorization server, which may have to be fetched; `nil` if the profile has no such
    /// environment.
    func origins(
        of profile: ProviderProfile, in environment: String, at now: Moment
    ) async throws(ProviderFailure) -> TokenOrigins? {
        guard profile.oauth != nil else { return profile.origins(in: environment) }
        return profile.origins(in: environment, server: try await server(of: profile, at: now))
    }

    /// What the profile names and the session was not signed in at; `nil` if nothing has changed.
    func originChange(of record: SessionRecord) -> AgentError? {
        guard let named = namedOrigins(of: record), let change = record.origins?.change(to: named) else { return nil }
        return .originChanged(record.session, record.provider, change)
    }

    /// The origins of a session whose record lacks those of its authorization server, which was found meanwhile.
    func completedOrigins(of record: SessionRecord, at now: Moment) async -> TokenOrigins? {
        // With one reading of the profile: a profile that has changed meanwhile adds nothing.
        guard let known = record.origins, !known.isComplete, let profile = profile(of: record),
            let named = profile.origins(in: record.environment), known.change(to: named) == nil,
            let found = try? await origins(of: profile, in: record.environment, at: now)
        else { return nil }
        return known.union(found)
    }
}
