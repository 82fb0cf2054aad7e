import AuthMachines
import AuthModel
package import AuthWire

/// The requests of clients that are about the user of a session.
extension SessionRequests {
    /// The user as last received, even offline. It is fetched if the caller asks for that, or if none was received.
    package func user(_ params: UserGet) async throws(AgentError) -> UserResult {
        let session = try await registry.session(params.session)
        let record = await session.record
        if !params.fresh, let user = record.user, let raw = record.rawUser {
            let received = record.userReceivedAt ?? record.tokens.issuedAt
            return result(user, raw, received: received)
        }
        return try await fetchUser(of: session)
    }

    /// Changes the user at the provider. An error about what cannot be changed is returned before anything is sent.
    package func updateUser(_ params: UserUpdate) async throws(AgentError) -> UserResult {
        let session = try await registry.session(params.session)
        let (changed, record) = try await session.withToken { record throws(ProviderFailure) in
            try await providers.updateUser(record, params.fields, sentAt: context.clock.now())
        }
        if let changed { return await received(changed, of: session, with: record) }
        do throws(AgentError) {
            return try await fetchUser(of: session)
        } catch {
            // It is changed, whether or not the provider reports the user afterwards.
            let record = await session.record
            return result(
                record.user ?? UserSummary(), record.rawUser ?? .null,
                received: record.userReceivedAt ?? record.tokens.issuedAt)
        }
    }

    private func fetchUser(of session: Session) async throws(AgentError) -> UserResult {
        let (fetched, record) = try await session.withToken { record throws(ProviderFailure) in
            try await providers.fetchUser(record, sentAt: context.clock.now())
        }
        return await received(fetched, of: session, with: record)
    }

    private func received(
        _ user: SignedInUser, of session: Session, with asked: SessionRecord
    ) async -> UserResult {
        await session.handle(.userReceived(user.summary, raw: user.raw), learnedWith: asked)
        let record = await session.record
        guard record.signIn == asked.signIn else {
            return result(user.summary, user.raw, received: context.clock.now().wall)
        }
        return result(record.user ?? user.summary, record.rawUser ?? user.raw, received: context.clock.now().wall)
    }

    private func result(_ user: UserSummary, _ raw: JSON, received: WallTime) -> UserResult {
        let age = max(.zero, context.clock.now().wall - received)
        return UserResult(
            user: user, raw: raw, fetchedAt: received.unixSeconds, ageMs: Int(age.wholeMilliseconds))
    }
}
