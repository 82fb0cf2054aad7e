package import AuthModel

/// Finds the settings: the user's file, else the system's.
package enum SettingsFile {
    /// - Parameter paths: the nearest first. Without any of them all settings are as if nothing were set.
    package static func load(paths: [String]) -> Result<Settings, ProfileProblems> {
        for path in paths {
            if let text = TextFile.read(path) {
                return text.flatMap { SettingsReader.read($0, source: path) }
            }
        }
        return .success(Settings())
    }
}
