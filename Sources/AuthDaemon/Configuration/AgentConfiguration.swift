package import AuthModel
package import AuthWire

/// Settings and profiles as read from their files.
package struct AgentConfiguration: Sendable {
    package var settings: Settings
    package var catalog: ProfileCatalog

    package init(settings: Settings, catalog: ProfileCatalog) {
        self.settings = settings
        self.catalog = catalog
    }
}

/// What reading them gave.
package struct ConfigurationReading: Sendable {
    /// Without the profiles that are broken; `nil` when the settings are.
    package var configuration: AgentConfiguration?
    package var problems: [ProfileProblem]

    package init(configuration: AgentConfiguration?, problems: [ProfileProblem]) {
        self.configuration = configuration
        self.problems = problems
    }
}
