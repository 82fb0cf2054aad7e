import AuthWire
import Glibc

/// The session that the settings name for the folder the command runs in. The agent leaves the rules beside its socket,
/// so that a folder costs no round trip.
enum FolderSession {
    static func current(socket: String) -> SessionName? {
        let path = SocketPath.neighbour("folders", of: socket)
        // Without rules there is no file: then this is all that they cost.
        guard unsafe access(path, R_OK) == 0,
            let text = try? FileText.read(path, atMost: FolderRules.longestText), let folder = workingFolder()
        else { return nil }
        return FolderRules(text: text).session(in: folder)
    }

    /// `nil` where it was removed, or is out of reach.
    private static func workingFolder() -> String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}
