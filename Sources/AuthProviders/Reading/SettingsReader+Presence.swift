internal import AuthConfiguration
internal import AuthModel
internal import AuthWire

/// `[presence]` and `[sessions.NAME]`.
extension SettingsReader {
    /// For `remember_minutes`: an hour at most.
    private static let rememberedMinutes = 1...60

    static func presence(_ root: TOMLSection) -> PresenceSettings {
        var settings = PresenceSettings()
        if let section = root.section("presence") {
            section.allow("remember_minutes")
            settings.remember = section.integer("remember_minutes", in: rememberedMinutes).map { .seconds(60 * $0) }
        }
        guard let sessions = root.section("sessions") else { return settings }
        for text in sessions.keysInOrder {
            guard let section = sessions.section(text) else { continue }
            section.allow("presence")
            guard let name = try? SessionName(text) else {
                sessions.problems.add(
                    sessions.path(text), expected: "a session's name, \(SessionName.rule)", found: text)
                continue
            }
            if section.bool("presence") == true { settings.sessions.insert(name) }
        }
        return settings
    }
}
