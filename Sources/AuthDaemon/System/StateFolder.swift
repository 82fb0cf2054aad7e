/// Where what outlives a login is kept, besides the keyring (XDG Base Directory Specification, `XDG_STATE_HOME`).
enum StateFolder {
    /// `nil` where the environment names no home. A relative folder is to be taken as not set.
    static func path(environment: (String) -> String?) -> String? {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/authd" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/authd"
    }
}
