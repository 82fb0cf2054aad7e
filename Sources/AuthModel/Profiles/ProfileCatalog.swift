/// The profiles there are, one a name.
package struct ProfileCatalog: Sendable, Equatable {
    private let profiles: [String: ProviderProfile]

    /// Of two profiles with one name the later one stays.
    package init(_ profiles: [ProviderProfile] = []) {
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, later in later }
    }

    package subscript(name: String) -> ProviderProfile? { profiles[name] }

    /// By name.
    package var list: [ProviderProfile] { profiles.values.sorted { $0.name < $1.name } }
}
