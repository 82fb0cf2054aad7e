internal import AuthMachines
internal import AuthModel

/// The profile of all sessions with the same provider, environment and sign-in method, and what is computed from it.
/// A class, so that a lookup does not copy the profile.
final class SharedProfile: Sendable {
    struct Key: Hashable {
        let provider: String
        let environment: String
        let method: String

        /// `nil` for a session whose registered client or resource is part of its profile.
        init?(_ record: SessionRecord) {
            guard record.client == nil, record.resource == nil else { return nil }
            (provider, environment, method) = (record.provider, record.environment, record.method)
        }
    }

    let profile: ProviderProfile
    /// See ``ProviderClient/probe(_:)``.
    let probe: Probe?
    /// What the profile itself names, without a request.
    let origins: TokenOrigins?
    let renewsByToken: Bool

    init(_ profile: ProviderProfile, probe: Probe?, origins: TokenOrigins?) {
        self.profile = profile
        self.probe = probe
        self.origins = origins
        renewsByToken = profile.renewsByToken
    }
}
