/// All profiles, by name.
package struct ProfileCatalog: Sendable, Equatable {
    /// Profiles from files, and profiles of the program that the settings change.
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

    /// Without unchanged profiles of the program, which name no files.
    package var fromFiles: [ProviderProfile] { profiles.values.sorted { $0.name < $1.name } }
}

/// A profile inside the program. It is read when it is first needed: most users need few of them, and reading all takes 5 ms of a start.
package struct BundledProfile: Sendable, Equatable {
    package let name: String
    private let read: @Sendable () -> ProviderProfile?

    /// - Parameter read: returns the same each time.
    package init(_ name: String, read: @escaping @Sendable () -> ProviderProfile?) {
        (self.name, self.read) = (name, read)
    }

    package var profile: ProviderProfile? { read() }

    /// In one program there is one text for each name.
    package static func == (one: BundledProfile, other: BundledProfile) -> Bool { one.name == other.name }
}
