import AuthFiles
import CSandbox
import CLinux
import CSystemd
import Glibc
import Logging
import Synchronization

/// Reads what Landlock hides from the agent about its clients: their executables, user namespaces and root folders. The kernel
/// shows those as ptrace(2) would, and a process in a Landlock domain may trace only processes of the same domain. So a child
/// that was started before the agent restricted itself reads them.
///
/// Invariant: one question is in progress at a time.
package final class ProcessReader: Sendable {
    /// The kernel's own limit for a path.
    private static let longestPath = 4096

    /// `nil`: the agent reads by itself.
    static let current = Mutex<ProcessReader?>(nil)

    private let socket: CInt
    let processID: Int32
    private let number = Mutex<UInt32>(0)

    /// Starts the child. The process must have one thread.
    init() throws(SystemFailure) {
        var socket: CInt = -1
        processID = unsafe sandbox_start_reader(&socket)
        guard processID > 0 else { throw SystemFailure("start the process that identifies clients") }
        self.socket = socket
    }

    /// The child ends.
    deinit {
        close(socket)
        while waitpid(processID, nil, 0) < 0, errno == EINTR {}
    }

    /// The target of the link to the program of a process; `nil`: it cannot be read.
    static func executable(of folder: String) -> String? {
        if let reader = reader(for: folder) {
            return try? reader.0.ask(SANDBOX_EXECUTABLE, about: reader.1).text
        }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestPath) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe readlink(folder + "/exe", start, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return unsafe String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The inode of the user namespace of a process.
    /// - Throws: with the errno.
    static func userNamespace(of folder: String) throws(SystemFailure) -> UInt64 {
        if let reader = reader(for: folder) {
            return try reader.0.ask(SANDBOX_USER_NAMESPACE, about: reader.1).inode
        }
        var found = stat()
        guard unsafe stat(folder + "/ns/user", &found) == 0 else { throw SystemFailure("read the namespace") }
        return UInt64(found.st_ino)
    }

    /// Succeeds if the root folder of a process has Flatpak's description of a sandbox.
    /// - Throws: with the errno; ENOENT: it has not.
    static func findFlatpakInfo(in folder: String) throws(SystemFailure) {
        if let reader = reader(for: folder) {
            _ = try reader.0.ask(SANDBOX_FLATPAK_INFO, about: reader.1)
            return
        }
        var found = stat()
        guard unsafe lstat(folder + "/root/.flatpak-info", &found) == 0 else {
            throw SystemFailure("read the root folder")
        }
    }

    /// Returns when the child has answered, and never if it has ended.
    package static func answers() async {
        guard let reader = current.withLock({ $0 }) else { return }
        if (try? reader.ask(SANDBOX_USER_NAMESPACE, about: reader.processID)) != nil { return }
        AgentLog(level: .error).logger().critical(
            "The process that identifies clients has ended. Until authd is restarted, clients count as limited.")
        try? await Task.sleep(for: .seconds(1_000_000_000))
    }

    /// The reader, and the number of a process; `nil` for the process itself, and if there is no reader.
    private static func reader(for folder: String) -> (ProcessReader, Int32)? {
        guard let reader = current.withLock({ $0 }),
            let number = folder.split(separator: "/").last.flatMap({ Int32($0) })
        else { return nil }
        return (reader, number)
    }

    func ask(
        _ question: sandbox_question, about process: Int32
    ) throws(SystemFailure) -> (text: String, inode: UInt64) {
        let answer = number.withLock { number in
            number &+= 1
            return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.longestPath) { buffer in
                var (inode, length) = (UInt64(0), 0)
                guard
                    unsafe sandbox_ask(
                        socket, number, CInt(question.rawValue), process, &inode, buffer.baseAddress, buffer.count,
                        &length) == 0
                else { return Result<(text: String, inode: UInt64), SystemFailure>.failure(SystemFailure("ask")) }
                let bytes = unsafe buffer[..<length].map { UInt8(bitPattern: $0) }
                return .success((String(decoding: bytes, as: UTF8.self), inode))
            }
        }
        return try answer.get()
    }
}
