import AuthConnection
import AuthConfiguration
import AuthFiles
import AuthWire
import CLinux
import Glibc

/// Checks the modes of the user's files. authd refuses settings, rules and profiles that others can write to, and keys
/// that others can access.
enum DoctorFiles {
    static func findings(_ file: SettingsFile) -> [Finding] {
        changeable(file.path) + keys(file).compactMap { mode($0, 0o077) == nil ? nil : key($0) }
    }

    private static func changeable(_ settings: String) -> [Finding] {
        let own = PrivateFolder.parent(of: settings)
        let folder = own + "/providers"
        let paths = [settings, own + "/policy.toml"] + profiles(in: folder).map { folder + "/" + $0 }
        let open = paths.compactMap { path in mode(path, S_IWGRP | S_IWOTH).map { (path, $0) } }
        // Which groups are private to the user is for authd to say.
        let refusals = open.contains { $0.1 & S_IWOTH == 0 } ? SettingsCheck.refusedForGroup(settings) : []
        return open.compactMap { path, mode in
            let isEverybody = mode & S_IWOTH != 0
            guard isEverybody || refusals.contains(where: { $0.hasPrefix(refusal(of: path)) }) else {
                return nil
            }
            return finding(path, isEverybody ? "everybody" : "other users")
        }
    }

    /// The beginning of authd's message about such a file.
    static func refusal(of path: String) -> String {
        Visible.line(path) + ": expected a file that others cannot change"
    }

    private static func finding(_ path: String, _ who: String) -> Finding {
        .problem(
            .settings, .badSettings, "\(path) can be changed by \(who), so authd refuses it",
            hint: "`\(DoctorFix.protectFile(path).command)`", fix: .protectFile(path)
        ).reported(.words("a file can be changed by \(who)"))
    }

    private static func key(_ path: String) -> Finding {
        .problem(
            .settings, .badSettings, "\(path) is accessible to other users, so its key is not used",
            hint: "`\(DoctorFix.hideFile(path).command)`", fix: .hideFile(path)
        ).reported(.words("a key is accessible to other users"))
    }

    /// Files with keys: those that the settings name, and those of programs that use the HTTP endpoint.
    private static func keys(_ file: SettingsFile) -> [String] {
        let text = try? TOMLText(file.current())
        let named = ["sealed_key", "etcd.key_file", "etcd.password_file"].compactMap { name -> String? in
            guard case .text(let path)? = text?.value(at: name)?.kind, path.hasPrefix("/") else { return nil }
            return path
        }
        guard let endpoint = EndpointFolder(environment: environmentValue) else { return named }
        return named + ((try? endpoint.names()) ?? []).map { endpoint.keyFile(of: $0) }
    }

    /// The mode of a file of this user that gives others one of these permissions.
    private static func mode(_ path: String, _ permissions: mode_t) -> mode_t? {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_uid == getuid() else { return nil }
        return info.st_mode & permissions == 0 ? nil : info.st_mode
    }

    private static func profiles(in folder: String) -> [String] {
        let names = (try? FolderEntries.names(in: folder)) ?? []
        return names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
    }
}
