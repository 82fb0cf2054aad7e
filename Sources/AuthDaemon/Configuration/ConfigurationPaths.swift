import AuthFiles

/// The paths of settings and profiles, in order of precedence (XDG Base Directory Specification).
package struct ConfigurationPaths: Sendable, Equatable {
    package static let system = "/etc/xdg/authd"

    /// The files with settings.
    package let files: [String]
    /// The folders with profiles.
    package let folders: [String]
    /// The path of the user's access rules; `nil`: the environment has no home.
    package let policy: String?

    /// - Parameter file: of `--config`: it replaces the user's own file, and the profiles are beside it.
    package init(file: String?, environment: (String) -> String?) {
        let own: String? =
            if let file {
                PrivateFolder.parent(of: file)
            } else if let folder = Self.absolute(environment("XDG_CONFIG_HOME")) {
                folder + "/authd"
            } else {
                Self.absolute(environment("HOME")).map { $0 + "/.config/authd" }
            }
        let places = (own.map { [$0] } ?? []) + [Self.system]
        files = file.map { [$0] } ?? places.map { $0 + "/authd.toml" }
        policy = own.map { $0 + "/policy.toml" }
        folders = places.map { $0 + "/providers" }
    }

    /// A relative folder counts as not set.
    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path
    }
}
