import AuthWire
import Glibc

/// The session that the settings name for the current folder. The agent writes the rules to a file beside its socket, so
/// that they need no round trip.
enum FolderSession {
    static func current(socket: String) -> SessionName? {
        let path = SocketPath.neighbour("folders", of: socket)
        // Without rules there is no file, and this is the only cost.
        guard unsafe access(path, R_OK) == 0,
            let text = try? FileText.read(path, atMost: FolderRules.longestText), let folder = workingFolder()
        else { return nil }
        return FolderRules(text: text).session(in: folder)
    }

    /// `nil` if the folder was removed or cannot be read.
    private static func workingFolder() -> String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}
