import CStart

/// The program that has every command: it replaces this one.
enum FullProgram {
    private static let name: StaticString = "authc-full"
    /// Where `make install` puts it, relative to the folder of `authc`; in a build both are in one folder.
    private static let installed: StaticString = "../libexec/authd-session/"
    private static let longestPath = 4096
    /// EX_SOFTWARE (sysexits(3head)).
    private static let failed: Int32 = 70

    /// - Returns: only if it cannot be started: the exit status.
    static func run(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        guard let folder = ownFolder() else {
            Message.write("cannot find authc-full, which has its commands: /proc is not there")
            return failed
        }
        for place in [installed, ""] as [StaticString] {
            var path = folder
            path.append(place)
            path.append(name)
            let number = unsafe path.withCString { unsafe start_open_program($0) }
            if number < 0, start_errno() == ENOENT || start_errno() == ENOTDIR { continue }
            guard number >= 0 else { return report(path, start_errno()) }
            guard isTrusted(number) else {
                Message.write("its owner or mode is not safe, so it is not started: ", path: path)
                return failed
            }
            // A script would need the path; a program does not (fexecve(3)).
            _ = unsafe start_run(number, words)
            return report(path, start_errno())
        }
        var path = folder
        path.append(installed)
        path.append(name)
        return report(path, ENOENT)
    }

    /// Whether it belongs to root, this user or the owner of this program, and others cannot write to it.
    private static func isTrusted(_ number: Int32) -> Bool {
        var (found, own) = (stat(), stat())
        guard unsafe fstat(number, &found) == 0, unsafe stat("/proc/self/exe", &own) == 0 else { return false }
        let isOwners = found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == own.st_uid
        return unsafe isOwners && found.st_mode & 0o002 == 0 && start_is_regular(&found) != 0
    }

    /// With a slash at the end. Links to `authc` are followed (proc_pid_exe(5)).
    private static func ownFolder() -> ByteString? {
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

    private static func report(_ path: ByteString, _ reason: Int32) -> Int32 {
        Message.write("cannot start ", path: path, reason: reason)
        return failed
    }
}
