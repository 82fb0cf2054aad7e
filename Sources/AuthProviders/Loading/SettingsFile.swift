package import AuthModel

/// Finds the settings: the user's file, else the system's.
package enum SettingsFile {
    /// - Parameter paths: in order of precedence. Without any file no setting is set.
    package static func load(paths: [String]) throws(ProfileProblems) -> Settings {
        for path in paths {
            if let text = try TextFile.read(path) { return try SettingsReader.read(text, source: path) }
        }
        return Settings()
    }
}
