internal import AuthMachines
internal import AuthModel

/// A profile for all sessions with the same sign-in method in the same environment, with what follows from it for each.
/// A class, so that no session copies the profile.
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

/// The present profiles, with those of them that sessions share.
struct CurrentProfiles {
    /// Above what the profiles of a user have. Records may name any environment and method.
    private static let most = 256

    private(set) var catalog: ProfileCatalog
    private(set) var shared: [SharedProfile.Key: SharedProfile] = [:]
    /// Grows with each change of the catalog.
    private(set) var version: UInt64 = 0

    init(_ catalog: ProfileCatalog) {
        self.catalog = catalog
    }

    mutating func replace(with catalog: ProfileCatalog) {
        self.catalog = catalog
        shared = [:]
        version += 1
    }

    /// - Parameter version: of the catalog that the profile is from. One of an earlier catalog is not kept.
    mutating func share(_ profile: SharedProfile, as key: SharedProfile.Key, of version: UInt64) {
        guard version == self.version else { return }
        if shared.count >= Self.most { shared = [:] }
        shared[key] = profile
    }
}
