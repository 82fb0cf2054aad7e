import CLinux
import CSystemd
import Glibc

/// The file that this process was started from.
package struct ProgramFile: Sendable {
    /// Which file it is. While a program runs, its file cannot be written to (ETXTBSY of open(2)), and its inode is not used
    /// again: another program is always another file.
    package struct Identity: Sendable, Equatable {
        let device: UInt64
        let inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            self.device = device
            self.inode = inode
        }

        /// `nil`: there is no such file.
        init?(of path: String) {
            var found = stat()
            guard unsafe stat(path, &found) == 0 else { return nil }
            self.init(device: UInt64(found.st_dev), inode: UInt64(found.st_ino))
        }
    }

    /// Where the next start finds it.
    package let path: String
    private let running: Identity

    /// - Parameters:
    ///   - path: where it was started from. A package manager replaces the file, or a link on the way to it.
    ///   - process: the file that runs.
    /// - Returns: `nil` if they differ: the path is that of another program, such as the dynamic loader.
    init?(path: String, process: String = "/proc/self/exe") {
        guard let running = Identity(of: process), running == Identity(of: path) else { return nil }
        self.path = path
        self.running = running
    }

    /// Must be called at the start, before the file may be replaced.
    package static func ofThisProcess() -> ProgramFile? {
        guard let start = unsafe authd_started_as() else { return nil }
        let path = unsafe String(cString: start)
        if path.hasPrefix("/") { return ProgramFile(path: path) }
        guard let real = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(real) }
        return ProgramFile(path: unsafe String(cString: real))
    }

    /// The program that is at the path instead of the running one; `nil`: there is none that could be started.
    ///
    /// It reads no more than the file's status: where that waits for a disk, the pages of the running program do too.
    package func replacement() -> Identity? {
        guard let present = Identity(of: path), present != running, unsafe access(path, X_OK) == 0 else { return nil }
        return present
    }
}
