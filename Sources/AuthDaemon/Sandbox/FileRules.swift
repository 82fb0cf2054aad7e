import AuthFiles

/// What the agent may do with files while Landlock restricts it (Docs/decisions/confinement.md). What no rule names is refused.
package struct FileRules: Sendable, Equatable {
    package struct Access: OptionSet, Sendable, Hashable {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }

        /// Read files, and list folders.
        package static let read = Access(rawValue: 1)
        package static let execute = Access(rawValue: 2)
        /// Write, create and remove files and folders, and create sockets.
        package static let write = Access(rawValue: 4)
        /// Read and write a file that exists.
        package static let device = Access(rawValue: 8)
    }

    package struct Rule: Sendable, Equatable {
        /// A folder with all that is below it, or a file.
        package let path: String
        package let access: Access
        /// The agent cannot work without it.
        package var isNeeded = false
    }

    /// Where the agent's files are.
    package struct Places: Sendable {
        /// No rule that is made for a file covers this folder.
        package var home: String?
        /// The folder of the user's settings, profiles and rules, which exists.
        package var configurationFolder: String?
        /// The folder of the agent's state, which exists.
        package var stateFolder: String?
        /// The folders of the sockets and of the files beside them, which exist.
        package var socketFolders: [String] = []
        /// The program and the libraries of this process.
        package var programs: [String] = []
        /// The names in `/run`.
        package var runtimeNames: [String] = []
        /// Files that settings, profiles and variables name, and what links lead to.
        package var files: [String] = []

        package init() {}
    }

    package private(set) var list: [Rule] = []

    package init(_ places: Places) {
        for path in Self.systemPrograms { add(path, [.read, .execute]) }
        for path in Self.systemFiles { add(path, .read) }
        for path in Self.devices { add(path, .device) }
        // Not /run/user, which has files of the user's other programs.
        for name in places.runtimeNames where name != "user" { add("/run/" + name, .read) }
        for path in places.programs { add(Self.folder(of: path, outside: places.home), [.read, .execute]) }
        for path in places.files { add(Self.folder(of: path, outside: places.home), .read) }
        if let folder = places.configurationFolder { add(folder, .read, isNeeded: true) }
        if let folder = places.stateFolder { add(folder, [.read, .write], isNeeded: true) }
        for path in places.socketFolders { add(path, [.read, .write], isNeeded: true) }
    }

    /// Whether a file may be read, as far as its path says.
    package func allowReading(_ path: String) -> Bool {
        list.contains { $0.access.contains(.read) && (path == $0.path || path.hasPrefix(Self.prefix($0.path))) }
    }

    private mutating func add(_ path: String, _ access: Access, isNeeded: Bool = false) {
        guard path.hasPrefix("/") else { return }
        let rule = Rule(path: path, access: access, isNeeded: isNeeded)
        if !list.contains(rule) { list.append(rule) }
    }

    /// The folder of a file, because a file may be replaced, which the rule for it would not outlive; the file itself if that
    /// folder has the user's home, or is one of many subjects.
    private static func folder(of path: String, outside home: String?) -> String {
        let folder = PrivateFolder.parent(of: path)
        let isWide = shared.contains(folder) || home.map { $0 == folder || $0.hasPrefix(prefix(folder)) } ?? false
        return isWide ? path : folder
    }

    private static func prefix(_ folder: String) -> String { folder == "/" ? folder : folder + "/" }

    /// Programs, libraries and their data, of distributions and of administrators.
    private static let systemPrograms = [
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu",
    ]
    /// Settings of the system, among them those of the resolver, TLS and time zones; processes; the machine. The last three
    /// are of name services, and of distributions that keep certificates or settings there.
    private static let systemFiles = ["/etc", "/proc", "/sys", "/var/lib/sss", "/var/lib/ca-certificates", "/var/db"]
    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    private static let shared: Set<String> = [
        "/", "/home", "/run", "/tmp", "/var", "/var/tmp", "/dev/shm", "/mnt", "/media",
    ]
}
