package import AuthModel

/// Finds the settings: the user's file, else the system's.
package enum SettingsFile {
    /// - Parameter paths: in order of precedence. Without any file no setting is set.
    package static func load(paths: [String]) -> Result<Settings, ProfileProblems> {
        for path in paths {
            if let text = TextFile.read(path) {
                return text.flatMap { SettingsReader.read($0, source: path) }
            }
        }
        return .success(Settings())
    }
}
