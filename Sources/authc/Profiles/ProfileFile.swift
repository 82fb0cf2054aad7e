import AuthConnection
import AuthFiles
import AuthWire
import Glibc

/// The file of a new profile, which is never there in part.
enum ProfileFile {
    /// Where the agent looks for profiles of the user.
    static func usualPath(of name: String) throws(Failure) -> String {
        var folder = usualFolder
        if folder.hasPrefix("~") {
            guard let home = environmentValue("HOME"), home.hasPrefix("/") else {
                throw .usage("there is no home folder for the profile", hint: "name a file: --output FILE")
            }
            folder = home + folder.dropFirst()
        }
        return "\(folder)/\(name).toml"
    }

    /// The folder of ``usualPath(of:)``, as a message names it. `~` is the home folder.
    static var usualFolder: String {
        // A relative one is to be ignored (XDG Base Directory Specification).
        guard let folder = environmentValue("XDG_CONFIG_HOME"), folder.hasPrefix("/") else {
            return "~/.config/authd/providers"
        }
        return "\(folder)/authd/providers"
    }

    /// Whether the file is there, which the agent may not have loaded.
    static func isWritten(_ name: String) -> Bool {
        guard (try? SessionName(name)) != nil, let path = try? usualPath(of: name) else { return false }
        return unsafe access(path, F_OK) == 0
    }

    /// Whether the file is in the folder where the agent looks for profiles.
    static func isInPlace(_ path: String) -> Bool {
        guard let usual = try? usualPath(of: "name"), let folder = realFolder(of: path) else { return false }
        return folder == realFolder(of: usual)
    }

    /// `nil` if there is no such folder.
    private static func realFolder(of path: String) -> String? {
        guard let found = unsafe realpath(PrivateFolder.parent(of: path), nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// - Parameter hint: what the user can do if it exists.
    static func refuseExisting(_ path: String, _ hint: String) throws(Failure) {
        if unsafe access(path, F_OK) == 0 { throw existing(path, hint) }
    }

    private static func existing(_ path: String, _ hint: String) -> Failure {
        .usage("\(path) already exists", hint: hint)
    }

    /// - Parameters:
    ///   - replacing: whether an existing file is replaced.
    ///   - hint: what the user can do if it exists and is not replaced.
    static func write(
        _ text: String, to path: String, replacing: Bool, ifExists hint: String
    ) throws(Failure) {
        let obstacle = MissingFolders.create(for: path)
        do throws(SystemFailure) {
            try AtomicFile(path: path).publish(Array(text.utf8), replacing: replacing)
        } catch {
            if error.number == EEXIST { throw existing(path, hint) }
            if let obstacle, [ENOENT, ENOTDIR].contains(error.number) { throw .usage(obstacle) }
            throw .usage("cannot write \(path): \(SystemError.text(error.number))")
        }
    }
}
