import CStart

/// The files that belong to this program.
enum InstalledFiles {
    /// Where they may be, relative to the folder of `authc`: where `make install` puts them, or in the same folder, as
    /// in a build.
    static var places: [StaticString] { ["../libexec/authd-session/", ""] }
    private static let longestPath = 4096

    /// The folder of this program, with a slash at the end. Links to `authc` are followed (proc_pid_exe(5)).
    static func ownFolder() -> ByteString? {
        unsafe withUnsafeTemporaryAllocation(byteCount: longestPath, alignment: 1) { room in
            let count = unsafe room.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe readlink("/proc/self/exe", $0, text.count) } ?? -1
            }
            guard count > 0, count < room.count, let slash = unsafe room[..<count].lastIndex(of: .slash) else {
                return nil
            }
            return unsafe ByteString(Text(UnsafeRawBufferPointer(rebasing: room[...slash])))
        }
    }

    /// What is known about an open file that belongs to root, this user or the owner of this program, and that others
    /// cannot write to; `nil` for any other.
    static func trusted(_ number: Int32) -> stat? {
        var (found, own) = (stat(), stat())
        guard unsafe fstat(number, &found) == 0, unsafe stat("/proc/self/exe", &own) == 0 else { return nil }
        let isOwners = found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == own.st_uid
        return unsafe isOwners && found.st_mode & 0o002 == 0 && start_is_regular(&found) != 0 ? found : nil
    }
}
