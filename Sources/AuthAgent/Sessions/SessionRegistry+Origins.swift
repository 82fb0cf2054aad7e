import AuthMachines
import AuthModel
package import AuthWire

/// Where sessions' tokens may be sent, as profiles change.
extension SessionRegistry {
    /// An older authd took the first of several sessions for the default one without writing that down: it stays so.
    /// - Parameter records: as they were read; those of an older authd name no origins.
    func keepFormerDefault(of records: [SessionRecord]) async {
        guard records.count > 1, records.allSatisfy({ $0.origins == nil && $0.defaultSince == nil }) else { return }
        let first = records.min { ($0.signedInAt.unixSeconds, $0.session) < ($1.signedInAt.unixSeconds, $1.session) }
        guard let first else { return }
        await session(named: first.session)?.handle(.defaultImplied)
    }

    /// Tells where the profile has tokens sent and the session was not signed in, or lets them be sent there.
    ///
    /// - Throws: `conflict` if the user agreed to other places than those that the profile names now.
    package func trust(_ params: SessionTrust) async throws(AgentError) -> TrustResult {
        let session = try await session(params.session)
        let record = await session.record
        guard let profile = provider.profile(of: record) else { throw .unknownProvider(record.provider) }
        let found = try await provider.origins(of: profile, in: record.environment, at: clock.now())
            .mapError(\.error).get()
        guard let found else {
            throw AgentError(
                .validation, "\(profile.title) has no environment \(record.environment) any more: sign in again.")
        }
        let change = record.origins?.change(to: found) ?? OriginChange(former: [], new: [])
        if let agreed = params.origins {
            guard Set(agreed) == Set(change.new) else {
                throw AgentError(
                    .conflict, "The profile \(record.provider) does not name these places for session \(session.name).",
                    cause: AgentError.originChangedCause, details: change.new)
            }
            // Asking the provider took a while.
            guard await session.trust(found, of: record) else {
                throw AgentError(
                    .conflict, "Session \(session.name) or its profile has changed meanwhile: try again.",
                    cause: AgentError.originChangedCause)
            }
            try await session.write()
        }
        return TrustResult(
            former: change.former, origins: change.new, isTrusted: params.origins != nil,
            status: try status(session.name))
    }
}
