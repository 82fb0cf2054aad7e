/// What the agent may do with files while Landlock restricts it (Docs/decisions/confinement.md). What no rule names is refused.
///
/// Invariant: no rule for a file or for what a link leads to covers the home or a folder of many programs. What covers one all
/// the same is in ``notes``.
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

    package private(set) var list: [Rule] = []
    /// What is wider than the user may expect, or not allowed although a link leads there. For the user.
    package private(set) var notes: [String] = []

    package init(_ places: FilePlaces) {
        for path in places.systemPrograms { addSystem(path, [.read, .execute], places) }
        for path in places.systemFiles { addSystem(path, .read, places) }
        for path in Self.devices { add(path, .device) }
        for path in places.programs { add(places.place(of: path), [.read, .execute]) }
        for path in places.files { add(places.place(of: path), .read) }
        for path in places.folders {
            if places.isShared(path) {
                notes.append(
                    "a link leads to \(path): authd cannot read it, because it has files of the user's other programs")
            } else {
                add(path, .read)
            }
        }
        if let folder = places.configurationFolder {
            if places.isShared(folder) {
                for name in ["authd.toml", "policy.toml", "providers"] { add(folder + "/" + name, .read) }
                notes.append(
                    "the settings are in \(folder), which has files of the user's other programs: when one of them was "
                        + "replaced, authd can read it only after a restart")
            } else {
                add(folder, .read)
            }
        }
        for path in [places.stateFolder].compactMap(\.self) + places.socketFolders {
            add(path, [.read, .write], isNeeded: true)
            if places.isShared(path) {
                notes.append("authd can read and write all of \(path), because its state or socket is there")
            }
        }
    }

    /// Whether a file may be read, as far as its path says.
    package func allowReading(_ path: String) -> Bool {
        list.contains { $0.access.contains(.read) && FilePlaces.covers($0.path, path) }
    }

    private mutating func add(_ path: String, _ access: Access, isNeeded: Bool = false) {
        guard path.hasPrefix("/") else { return }
        let rule = Rule(path: path, access: access, isNeeded: isNeeded)
        if !list.contains(rule) { list.append(rule) }
    }

    /// A folder of the system, which is needed even if the user's home is below it.
    private mutating func addSystem(_ path: String, _ access: Access, _ places: FilePlaces) {
        add(path, access)
        if let home = places.home, FilePlaces.covers(path, home) {
            notes.append("authd can read all of \(home), because it is below \(path)")
        }
    }

    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
}
