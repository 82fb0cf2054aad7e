import AuthConcurrency
import AuthModel
import CLinux
import CSystemd
import Glibc
import Synchronization

/// Identifies a program for a remembered answer: by the inode and the hash of its file, by the version of the file if
/// that cannot be opened, by its service, or as a process if a user's process serves its file system.
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
            identity(of: subject, isConfined: isConfined)
        }
        // A scope has every program of a login, or of a terminal.
        let service = unit.flatMap { $0.hasSuffix(".service") ? ConsentProgram.Identity.unit($0) : nil }
        let file = found.flatMap { $0 }
        if case .running? = file { return ConsentProgram(subject, unit: unit, identity: service ?? file) }
        return ConsentProgram(subject, unit: unit, identity: file ?? service)
    }

    private func identity(of subject: PresenceSubject, isConfined: Bool) -> ConsentProgram.Identity? {
        let folder = "/proc/\(subject.processID)"
        let program = (try? ProcessReader.program(of: folder)) ?? nil
        let found: ConsentProgram.Identity? =
            if let program, !program.isPathKnown {
                isConfined || subject.executable != program.path ? nil : .running(subject)
            } else if subject.isExecutableUncertain {
                // The process now hides its program or runs another one. The file at this path may not be that program.
                nil
            } else {
                file(of: subject, in: folder, program, isConfined: isConfined)
            }
        // What was read belongs to the process that has asked.
        guard ProcText.startTime(of: subject.processID) == subject.startTicks else { return nil }
        return found
    }

    private func file(
        of subject: PresenceSubject, in folder: String, _ program: ProcessReader.Program?, isConfined: Bool
    ) -> ConsentProgram.Identity? {
        if let found = content(at: folder + "/exe", ifIs: program) { return found }
        guard !isConfined else { return nil }
        // Landlock denies access to that file, and a process that is not dumpable hides it. The path was read before.
        if let path = subject.executable, let found = content(at: path, ifIs: program) { return found }
        // Only a file system of the kernel reliably changes the status time with each change of a file.
        return program?.source == .kernel ? program?.file.map(ConsentProgram.Identity.version) : nil
    }

    /// The identity of a file by its content.
    /// - Parameter program: what the process runs; `nil`: unknown.
    /// - Returns: `nil` if the file cannot be read, or is another one.
    private func content(at path: String, ifIs program: ProcessReader.Program?) -> ConsentProgram.Identity? {
        let descriptor = openFile(path)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let opened = ProcessReader.Program(opened: descriptor, at: program?.path ?? path), opened.isPathKnown,
            let version = opened.file, version.size <= Self.largestProgram, program == nil || version == program?.file
        else { return nil }
        // On other file systems, a file with other content may have the same version.
        let isKept = opened.source == .kernel
        if isKept, let known = hashes.withLock({ $0[version] }) {
            return .file(device: version.device, inode: version.inode, hash: known)
        }
        guard let hash = Self.hash(of: descriptor) else { return nil }
        let identity = ConsentProgram.Identity.file(device: version.device, inode: version.inode, hash: hash)
        guard isKept else { return identity }
        hashes.withLock { hashes in
            if hashes.count >= Self.mostHashes { hashes = [:] }
            hashes[version] = hash
        }
        return identity
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
