import AuthFiles
import AuthWire
import CLinux
import Glibc

/// Checks the modes of the user's settings and profiles: authd refuses a file that others can change.
enum DoctorFiles {
    static func findings(_ settings: String) -> [Finding] {
        let folder = PrivateFolder.parent(of: settings) + "/providers"
        let paths = [settings] + profiles(in: folder).map { folder + "/" + $0 }
        let open = paths.compactMap { path in mode(path).map { (path, $0) } }
        // Which groups are private to the user is for authd to say.
        let refusals = open.contains { $0.1 & S_IWOTH == 0 } ? SettingsCheck.refusedForGroup(settings) : []
        return open.compactMap { path, mode in
            let isEverybody = mode & S_IWOTH != 0
            guard isEverybody || refusals.contains(where: { $0.hasPrefix(Visible.line(path) + ":") }) else {
                return nil
            }
            return finding(path, isEverybody ? "everybody" : "other users")
        }
    }

    private static func finding(_ path: String, _ who: String) -> Finding {
        .problem(
            .settings, .badSettings, "\(path) can be changed by \(who), so authd refuses it",
            hint: "`\(DoctorFix.protectFile(path).command)`", fix: .protectFile(path)
        ).reported(.words("a file can be changed by \(who)"))
    }

    /// The mode of a file of this user that others can change.
    private static func mode(_ path: String) -> UInt32? {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_uid == getuid() else { return nil }
        return info.st_mode & (S_IWGRP | S_IWOTH) == 0 ? nil : info.st_mode
    }

    private static func profiles(in folder: String) -> [String] {
        let names = (try? FolderEntries.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
    }
}
