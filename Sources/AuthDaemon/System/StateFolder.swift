import Glibc

/// The folder for state that outlives a login (XDG Base Directory Specification, `XDG_STATE_HOME`).
enum StateFolder {
    /// `nil` if the environment has no home. A relative folder counts as not set.
    static func path(environment: (String) -> String?) -> String? {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/authd" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/authd"
    }

    /// Creates the folder and missing parents, closed to others. They survive a loss of power.
    static func make(_ folder: String) throws(SystemFailure) {
        for end in folder.indices.dropFirst() where folder[end] == "/" {
            // An error here shows at the folder itself.
            if unsafe mkdir(String(folder[..<end]), 0o700) == 0 { try syncParent(of: String(folder[..<end])) }
        }
        if unsafe mkdir(folder, 0o700) == 0 { return try syncParent(of: folder) }
        guard errno == EEXIST else { throw SystemFailure("create the folder \(folder)") }
    }

    private static func syncParent(of folder: String) throws(SystemFailure) {
        try RuntimeFile.sync(folder: SocketFolder.folder(of: folder))
    }
}
