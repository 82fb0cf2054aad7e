import AuthConcurrency
import AuthModel
import CLinux
import CSystemd
import Glibc
import Synchronization

/// Identifies a program for a remembered answer: by the inode and the hash of its file, by the version of the file if
/// that cannot be opened, or by its service.
///
/// It has its own thread, because the file system of the program may not answer.
package final class ConsentPrograms: Sendable {
    /// The content of larger programs is not read.
    private static let largestProgram: UInt64 = 512 << 20
    private static let mostHashes = 64

    private let disk = BlockingThread()
    private let hashes = Mutex<[FileVersion: String]>([:])
    private let openFile: @Sendable (_ path: String) -> CInt

    package convenience init() {
        self.init { path in unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    }

    /// - Parameter openFile: a descriptor, or -1. Landlock allows the agent only some of the files that may be programs.
    init(openFile: @escaping @Sendable (_ path: String) -> CInt) { self.openFile = openFile }

    /// - Parameter isConfined: its paths may be those of another view of the files, and its file systems may report
    ///   false values.
    func program(_ subject: PresenceSubject, unit: String?, isConfined: Bool) async -> ConsentProgram {
        let found = await disk.run { [self] () -> ConsentProgram.Identity? in
            file(of: subject, isConfined: isConfined)
        }
        // A scope has every program of a login, or of a terminal.
        let service = unit.flatMap { $0.hasSuffix(".service") ? ConsentProgram.Identity.unit($0) : nil }
        return ConsentProgram(subject, unit: unit, identity: found.flatMap { $0 } ?? service)
    }

    private func file(of subject: PresenceSubject, isConfined: Bool) -> ConsentProgram.Identity? {
        let folder = "/proc/\(subject.processID)"
        let running = (try? ProcessReader.program(of: folder))?.file
        var found = content(at: folder + "/exe", ifIs: running)
        // Landlock hides that file, and so does a process that is not dumpable. The path was read before.
        if found == nil, !isConfined, let path = subject.executable { found = content(at: path, ifIs: running) }
        if found == nil, !isConfined { found = running.map(ConsentProgram.Identity.version) }
        // What was read belongs to the process that has asked.
        guard ProcText.startTime(of: subject.processID) == subject.startTicks else { return nil }
        return found
    }

    /// The identity of a file by its content.
    /// - Parameter running: what the process runs; `nil`: unknown.
    /// - Returns: `nil` if the file cannot be read, or is another one.
    private func content(at path: String, ifIs running: FileVersion?) -> ConsentProgram.Identity? {
        let descriptor = openFile(path)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let version = FileVersion(at: descriptor), version.size <= Self.largestProgram,
            running == nil || version == running
        else { return nil }
        if let known = hashes.withLock({ $0[version] }) {
            return .file(device: version.device, inode: version.inode, hash: known)
        }
        guard let hash = Self.hash(of: descriptor) else { return nil }
        hashes.withLock { hashes in
            if hashes.count >= Self.mostHashes { hashes = [:] }
            hashes[version] = hash
        }
        return .file(device: version.device, inode: version.inode, hash: hash)
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
