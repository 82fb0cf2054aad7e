import AuthFiles

/// Where the files are that the agent uses. All paths are without links.
package struct FilePlaces: Sendable {
    /// `nil`: the environment has none.
    package var home: String?
    /// Folders with files of the user's other programs, besides the home and those of the system.
    package var sharedFolders: Set<String> = []
    /// The folder of the user's settings, profiles and rules, which exists.
    package var configurationFolder: String?
    /// The folder of the agent's state, which exists.
    package var stateFolder: String?
    /// The folders of the sockets and of the files beside them, which exist.
    package var socketFolders: [String] = []
    /// The program and the libraries of this process.
    package var programs: [String] = []
    /// Files that settings, profiles and variables name, and what links lead to.
    package var files: [String] = []
    /// Folders that links lead to.
    package var folders: [String] = []
    package var systemPrograms = Self.usualPrograms
    package var systemFiles = Self.usualFiles

    package init() {}

    /// What a rule for a file is for: its folder, because a file may be replaced, which the rule for it would not outlive. The
    /// file itself if that folder is shared, or is below `/run`, where many subjects have theirs.
    func place(of file: String) -> String {
        let folder = PrivateFolder.parent(of: file)
        return isShared(folder) || Self.covers("/run", folder) ? file : folder
    }

    /// Whether a folder has files of other subjects: it is the home, the folder of many users or programs, or above one.
    func isShared(_ folder: String) -> Bool {
        let own = sharedFolders.union([home].compactMap(\.self))
        return Self.foldersOfMany.contains(folder) || own.contains { Self.covers(folder, $0) }
    }

    /// Whether a path is a folder or below it.
    static func covers(_ folder: String, _ path: String) -> Bool {
        folder == "/" || path == folder || path.utf8.starts(with: (folder + "/").utf8)
    }

    private static let foldersOfMany: Set<String> = [
        "/", "/home", "/run", "/run/user", "/tmp", "/var", "/var/cache", "/var/lib", "/var/tmp", "/dev", "/dev/shm",
        "/mnt", "/media", "/srv",
    ]

    /// Programs, libraries and their data, of distributions and of administrators.
    private static let usualPrograms = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu",
    ]
    /// Settings of the system, among them those of the resolver, TLS and time zones; processes; the machine; data of name
    /// services; folders of distributions that keep certificates or settings there. Of `/run` only what the resolver and name
    /// services read: other folders there have removable disks, secrets, or the files of a host.
    private static let usualFiles =
        ["/etc", "/proc", "/sys", "/var/lib/sss", "/var/lib/ca-certificates", "/var/db"]
        + [
            "NetworkManager", "connman", "dbus", "dhcpcd", "netconfig", "nscd", "nslcd", "resolvconf", "systemd",
        ].map { "/run/" + $0 }
}
