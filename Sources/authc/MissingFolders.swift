import AuthFiles
import AuthWire
import Glibc

/// The folders that a new file of the user needs.
enum MissingFolders {
    /// The folders of a path that do not exist, the innermost first.
    static func list(for path: String) -> [String] {
        var missing: [String] = []
        var folder = PrivateFolder.parent(of: path)
        while folder != ".", folder != "/", unsafe access(folder, F_OK) != 0, errno == ENOENT {
            missing.append(folder)
            folder = PrivateFolder.parent(of: folder)
        }
        return missing
    }

    /// Removes the folders that are empty: the file that they were created for was not written. If an agent runs, they stay: it may
    /// have been started meanwhile, and Landlock lets it use only folders that exist at its start.
    /// - Parameter folders: those that did not exist before, the innermost first.
    static func removeEmpty(_ folders: [String], _ options: Options) {
        guard !folders.isEmpty, !PromptReport.namesAgent(options) else { return }
        for folder in folders { _ = unsafe rmdir(folder) }
    }

    /// Creates the folders of a path that do not exist.
    /// - Returns: why the first of them cannot be created; `nil` if nothing is missing any more.
    @discardableResult
    static func create(for path: String) -> String? {
        let folder = PrivateFolder.parent(of: path)
        guard folder != ".", folder != "/", unsafe access(folder, F_OK) != 0 else { return nil }
        if let obstacle = create(for: folder) { return obstacle }
        // Another program may have just created it.
        guard unsafe mkdir(folder, 0o755) != 0, errno != EEXIST else { return nil }
        return "cannot create the folder \(folder): \(SystemError.text(errno))"
    }
}
