import AuthModel
import AuthWire

/// Where a session's tokens and credentials go, by the profile as it stands now.
extension ProviderClient {
    /// What the profile itself names, without asking anybody.
    func namedOrigins(of record: SessionRecord) -> TokenOrigins? {
        profile(of: record)?.origins(in: record.environment)
    }

    /// With the endpoints of the authorization server, which may have to be asked for.
    func origins(
        of profile: ProviderProfile, in environment: String, at now: Moment
    ) async -> Result<TokenOrigins?, ProviderFailure> {
        guard profile.oauth != nil else { return .success(profile.origins(in: environment)) }
        return await server(of: profile, at: now).map { profile.origins(in: environment, server: $0) }
    }

    /// What the profile names and the session was not signed in at; `nil` if it is what it was.
    func originChange(of record: SessionRecord) -> AgentError? {
        guard let named = namedOrigins(of: record), let change = record.origins?.change(to: named) else { return nil }
        return .originChanged(record.session, record.provider, change)
    }

    /// The origins of a session whose record lacks those of its authorization server, which was found meanwhile.
    func completedOrigins(of record: SessionRecord, at now: Moment) async -> TokenOrigins? {
        // By one reading of the profile: one that has changed meanwhile adds nothing.
        guard let known = record.origins, !known.isComplete, let profile = profile(of: record),
            let named = profile.origins(in: record.environment), known.change(to: named) == nil,
            case .success(let found?) = await origins(of: profile, in: record.environment, at: now)
        else { return nil }
        return known.union(found)
    }
}
