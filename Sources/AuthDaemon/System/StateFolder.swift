import Glibc

/// Where what outlives a login is kept, besides the keyring (XDG Base Directory Specification, `XDG_STATE_HOME`).
enum StateFolder {
    /// `nil` where the environment names no home. A relative folder is to be taken as not set.
    static func path(environment: (String) -> String?) -> String? {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") { return folder + "/authd" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/authd"
    }

    /// The folder and what is missing above it, closed to others. What was made survives a loss of power.
    static func make(_ folder: String) throws(SystemFailure) {
        for end in folder.indices.dropFirst() where folder[end] == "/" {
            // What cannot be made is told by the folder itself.
            if unsafe mkdir(String(folder[..<end]), 0o700) == 0 { try syncParent(of: String(folder[..<end])) }
        }
        if unsafe mkdir(folder, 0o700) == 0 { return try syncParent(of: folder) }
        guard errno == EEXIST else { throw SystemFailure("create the folder \(folder)") }
    }

    private static func syncParent(of folder: String) throws(SystemFailure) {
        try RuntimeFile.sync(folder: SocketFolder.folder(of: folder))
    }
}
