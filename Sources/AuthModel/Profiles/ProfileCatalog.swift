/// All profiles, by name.
package struct ProfileCatalog: Sendable, Equatable {
    /// Profiles from files.
    private let profiles: [String: ProviderProfile]
    /// The program's own, without those that ``profiles`` replaces.
    private let bundled: [String: BundledProfile]
    /// The address of the user's Client ID Metadata Document, as the settings name it: the client's ID at servers that accept
    /// such documents.
    package var clientDocument: String?

    /// A later profile replaces an earlier one with the same name, and each of them replaces a bundled one.
    package init(_ profiles: [ProviderProfile] = [], bundled: [BundledProfile] = []) {
        let profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, later in later }
        self.profiles = profiles
        self.bundled = Dictionary(bundled.filter { profiles[$0.name] == nil }.map { ($0.name, $0) }) { $1 }
    }

    package subscript(name: String) -> ProviderProfile? { profiles[name] ?? bundled[name]?.profile }

    /// Sorted by name.
    package var list: [ProviderProfile] {
        (Array(profiles.values) + bundled.values.compactMap(\.profile)).sorted { $0.name < $1.name }
    }

    /// Without profiles of the program, which name no files.
    package var fromFiles: [ProviderProfile] { profiles.values.sorted { $0.name < $1.name } }
}

/// A profile inside the program. It is read when it is first needed: most users need few of them, and reading all takes 5 ms of a start.
package struct BundledProfile: Sendable, Equatable {
    package let name: String
    /// What the settings change in ``profile``.
    package let changes: ProfileChanges
    private let read: @Sendable () -> ProviderProfile?

    /// - Parameter read: returns the same profile each time, with the changes applied.
    package init(
        _ name: String, changes: ProfileChanges = ProfileChanges(), read: @escaping @Sendable () -> ProviderProfile?
    ) {
        (self.name, self.changes, self.read) = (name, changes, read)
    }

    package var profile: ProviderProfile? { read() }

    /// In one program there is one text for each name.
    package static func == (one: BundledProfile, other: BundledProfile) -> Bool {
        one.name == other.name && one.changes == other.changes
    }
}

/// What the settings change in a profile.
package struct ProfileChanges: Sendable, Equatable {
    /// Each replaces the one of that name, if the profile has it.
    package var environments: [ProviderEnvironment] = []
    package var defaultEnvironment: String?

    package init() {}

    package var isEmpty: Bool { self == ProfileChanges() }

    package func applied(to profile: ProviderProfile) -> ProviderProfile {
        var profile = profile
        for added in environments {
            if let place = profile.environments.firstIndex(where: { $0.name == added.name }) {
                profile.environments[place] = added
            } else {
                profile.environments.append(added)
            }
        }
        if let defaultEnvironment { profile.defaultEnvironment = defaultEnvironment }
        return profile
    }
}
