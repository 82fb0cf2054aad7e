/// All profiles, by name.
package struct ProfileCatalog: Sendable, Equatable {
    private let profiles: [String: ProviderProfile]

    /// Of two profiles with the same name, the later one is used.
    package init(_ profiles: [ProviderProfile] = []) {
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, later in later }
    }

    package subscript(name: String) -> ProviderProfile? { profiles[name] }

    /// Sorted by name.
    package var list: [ProviderProfile] { profiles.values.sorted { $0.name < $1.name } }
}
