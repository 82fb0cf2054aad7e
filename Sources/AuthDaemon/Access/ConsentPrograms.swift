import AuthConcurrency
import AuthModel
import CLinux
import CSystemd
import Glibc
import Synchronization

/// Reads what an answer about a program is remembered by: the inode and the hash of its file, else its service.
///
/// It has its own thread, because the file system of the program may not answer.
package final class ConsentPrograms: Sendable {
    /// Larger programs are known by their unit only.
    private static let largestProgram: Int64 = 512 << 20
    private static let mostHashes = 64

    /// A file as it was when it was hashed.
    private struct Version: Hashable {
        let device, inode: UInt64
        let size, modified, changed: Int64
    }

    private let disk = BlockingThread()
    private let hashes = Mutex<[Version: String]>([:])

    package init() {}

    /// - Parameter isConfined: its paths may be those of another view of the files.
    func program(_ subject: PresenceSubject, unit: String?, isConfined: Bool) async -> ConsentProgram {
        let found = await disk.run { [self] () -> ConsentProgram.Identity? in
            file(of: subject, isConfined: isConfined)
        }
        // A scope has every program of a login, or of a terminal.
        let service = unit.flatMap { $0.hasSuffix(".service") ? ConsentProgram.Identity.unit($0) : nil }
        return ConsentProgram(subject, unit: unit, identity: found.flatMap { $0 } ?? service)
    }

    private func file(of subject: PresenceSubject, isConfined: Bool) -> ConsentProgram.Identity? {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        var descriptor = unsafe open("/proc/\(subject.processID)/exe", flags)
        // A process that is not dumpable hides it. Its path was read before.
        if descriptor < 0, !isConfined, let path = subject.executable { descriptor = unsafe open(path, flags) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.largestProgram
        else { return nil }
        let version = Version(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Self.nanoseconds(status.st_mtim), changed: Self.nanoseconds(status.st_ctim))
        let hash: String
        if let known = hashes.withLock({ $0[version] }) {
            hash = known
        } else {
            guard let new = Self.hash(of: descriptor) else { return nil }
            hash = new
            hashes.withLock { hashes in
                if hashes.count >= Self.mostHashes { hashes = [:] }
                hashes[version] = new
            }
        }
        // What was read belongs to the process that has asked.
        guard ProcText.startTime(of: subject.processID) == subject.startTicks else { return nil }
        return .file(device: version.device, inode: version.inode, hash: hash)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private static func hash(of descriptor: CInt) -> String? {
        var hash = ContentHash()
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(descriptor, &part, part.count)
            if count == 0 { return hash.text() }
            guard count > 0 else { return nil }
            hash.update(part[..<count])
        }
    }
}
