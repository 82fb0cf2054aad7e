/// All profiles, by name.
package struct ProfileCatalog: Sendable, Equatable {
    private let profiles: [String: ProviderProfile]
    /// The address of the user's Client ID Metadata Document, as the settings name it: the client's ID at servers that accept
    /// such documents.
    package var clientDocument: String?

    /// A later profile replaces an earlier one with the same name.
    package init(_ profiles: [ProviderProfile] = []) {
        self.profiles = Dictionary(profiles.map { ($0.name, $0) }) { _, later in later }
    }

    package subscript(name: String) -> ProviderProfile? { profiles[name] }

    /// Sorted by name.
    package var list: [ProviderProfile] { profiles.values.sorted { $0.name < $1.name } }
}
