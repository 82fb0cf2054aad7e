/// An HTTP setting that cannot be used, and why.
package struct TransportSettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The key in the settings file, or the variable.
    package let setting: String
    package let reason: String

    package init(setting: String, reason: String) {
        self.setting = setting
        self.reason = reason
    }

    package var description: String { "\(setting): \(reason)" }
}
