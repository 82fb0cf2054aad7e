import AuthModel
import AuthProviders

/// What a text is read as, or its problems, for tests of both.
enum ReadingResult {
    static func profile(_ text: String, source: String) -> Result<ProviderProfile, ProfileProblems> {
        Result { () throws(ProfileProblems) in try ProfileReader.read(text, source: source) }
    }

    static func settings(_ text: String, source: String) -> Result<Settings, ProfileProblems> {
        Result { () throws(ProfileProblems) in try SettingsReader.read(text, source: source) }
    }
}
