import AuthClient
import AuthFiles
import AuthWire
import Glibc

/// The file of a new profile, which is never there in part.
enum ProfileFile {
    /// Where the agent looks for profiles of the user.
    static func usualPath(of name: String) throws(Failure) -> String {
        // A relative one is to be ignored (XDG Base Directory Specification).
        if let folder = environmentValue("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/authd/providers/\(name).toml"
        }
        guard let home = environmentValue("HOME"), home.hasPrefix("/") else {
            throw .usage("there is no home folder for the profile", hint: "name a file: --output FILE")
        }
        return "\(home)/.config/authd/providers/\(name).toml"
    }

    /// Whether the file is there, which the agent may not have loaded.
    static func isWritten(_ name: String) -> Bool {
        guard (try? SessionName(name)) != nil, let path = try? usualPath(of: name) else { return false }
        return unsafe access(path, F_OK) == 0
    }

    /// - Parameters:
    ///   - replacing: whether an existing file is replaced.
    ///   - hint: what the user can do if it exists and is not replaced.
    static func write(
        _ text: String, to path: String, replacing: Bool, ifExists hint: String
    ) throws(Failure) {
        for end in path.indices.dropFirst() where path[end] == "/" { _ = unsafe mkdir(String(path[..<end]), 0o755) }
        do throws(SystemFailure) {
            try AtomicFile(path: path).publish(Array(text.utf8), replacing: replacing)
        } catch {
            if error.number == EEXIST { throw .usage("\(path) already exists", hint: hint) }
            throw .usage("cannot write \(path): \(SystemError.text(error.number))")
        }
    }
}
