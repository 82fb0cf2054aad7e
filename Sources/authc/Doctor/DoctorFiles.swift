import AuthFiles
import AuthWire
import CLinux
import Glibc

/// Checks the modes of the user's settings and profiles: authd refuses a file that others can change.
enum DoctorFiles {
    static func findings(_ settings: String) -> [Finding] {
        let folder = PrivateFolder.parent(of: settings) + "/providers"
        return ([settings] + names(in: folder).map { folder + "/" + $0 }).compactMap(finding)
    }

    private static func finding(_ path: String) -> Finding? {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_uid == getuid() else { return nil }
        // A group of the user's own has no other member.
        let isShared = info.st_mode & S_IWGRP != 0 && info.st_gid != getgid()
        guard isShared || info.st_mode & S_IWOTH != 0 else { return nil }
        let who = info.st_mode & S_IWOTH != 0 ? "everybody" : "group \(info.st_gid)"
        return .problem(
            .settings, .badSettings, "\(path) can be changed by \(who), so authd refuses it",
            hint: "`\(DoctorFix.protectFile(path).command)`", fix: .protectFile(path))
    }

    private static func names(in folder: String) -> [String] {
        guard let entries = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(entries) }
        var names: [String] = []
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
