internal import AuthMachines
internal import AuthModel

/// The present profiles, with those of them that sessions share.
struct CurrentProfiles {
    /// More than the profiles of a user need. There must be a limit, because records may name any environment and method.
    private static let maxEntries = 256

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
        if shared.count >= Self.maxEntries { shared = [:] }
        shared[key] = profile
    }
}
