/// The folder for state that outlives a login (XDG Base Directory Specification, `XDG_STATE_HOME`).
package enum StateFolder {
    /// `nil` if the environment has no home. A relative folder counts as not set.
    package static func path(environment: (String) -> String?) -> String? {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/authd" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/authd"
    }
}
