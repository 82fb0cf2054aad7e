import AuthConcurrency
import AuthFiles
import AuthModel
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
/// Invariant: one question is in progress at a time, even if it was not answered in time.
package final class ProcessReader: Sendable {
    /// The kernel's own limit for a path.
    private static let longestPath = 4096
    /// Between two looks for an answer that is late.
    private static let pause = Duration.seconds(1)

    /// `nil`: the agent reads by itself.
    static let current = Mutex<ProcessReader?>(nil)

    /// What a process runs.
    struct Program: Equatable {
        /// The target of the link to it.
        let path: String
        /// `nil`: unknown.
        let file: FileVersion?
        /// Where the description of that file comes from; `nil`: it is not known that the path leads to it.
        let source: MountTable.Source?

        init(path: String, file: sandbox_file) {
            (self.path, self.file) = (path, FileVersion(file))
            source = self.file.flatMap { MountTable.current.source(of: path, $0.number, mount: file.mount) }
        }

        /// The program in an open file; `nil`: not a regular file.
        init?(opened descriptor: CInt, at path: String) {
            var file = sandbox_file()
            guard unsafe sandbox_describe(descriptor, "", &file) == 0 else { return nil }
            self.init(path: path, file: file)
        }

        /// The number of the file if it names one file for as long as the process runs.
        var number: FileNumber? { source == .kernel ? file?.number : nil }

        /// Whether the path says which program it is.
        var isPathKnown: Bool { source == .kernel || source == .server }
    }

    private struct State {
        /// That of the newest question.
        var number: UInt32 = 0
        /// It was not answered in time. Until the answer arrives, nothing is asked, so that callers are not blocked again.
        var isLate = false
    }

    private let socket: CInt
    let processID: Int32
    private let state = Mutex(State())
    /// Whether the child has ended.
    private let ended = StateBroadcast<Bool>(false)

    /// Starts the child, and asks it once. The process must have one thread.
    init() throws(SystemFailure) {
        var socket: CInt = -1
        processID = unsafe sandbox_start_reader(&socket)
        guard processID > 0 else { throw SystemFailure("start the process that identifies clients") }
        self.socket = socket
        guard isAnswering() else {
            throw SystemFailure(
                "start the process that identifies clients",
                because: "it does not answer; the kernel may have refused its filter of system calls")
        }
    }

    /// The child ends.
    deinit {
        close(socket)
        while waitpid(processID, nil, 0) < 0, errno == EINTR {}
    }

    /// The program of a process; `nil`: it cannot be read. This does not ask the file system, so it does not block;
    /// only 9p asks its server anyway.
    /// - Throws: if the reader has not answered, which says nothing about the process.
    static func program(of folder: String) throws(SystemFailure) -> Program? {
        if let reader = reader(for: folder) {
            switch reader.0.exchange(SANDBOX_EXECUTABLE, about: reader.1) {
            case .answer(let text, let file): return Program(path: text, file: file)
            case .refusal: return nil
            case .silence(let failure): throw failure
            }
        }
        let path: String? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestPath) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = unsafe readlink(folder + "/exe", start, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return unsafe String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return path.map { path in
            var file = sandbox_file()
            // If this fails, all fields stay zero.
            _ = unsafe sandbox_describe(AT_FDCWD, folder + "/exe", &file)
            return Program(path: path, file: file)
        }
    }

    /// The inode of the user namespace of a process.
    /// - Throws: with the errno.
    static func userNamespace(of folder: String) throws(SystemFailure) -> UInt64 {
        if let reader = reader(for: folder) {
            return try reader.0.ask(SANDBOX_USER_NAMESPACE, about: reader.1).file.inode
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

    /// Returns when the child has answered.
    package static func answers() async {
        guard let reader = current.withLock({ $0 }) else { return }
        while !reader.isAnswering() {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    /// Returns when the child has ended.
    /// - Returns: `false`: the task was cancelled first.
    func hasEnded() async -> Bool { await ended.wait { $0 } }

    /// The reader, and the number of a process; `nil` for the process itself, and if there is no reader.
    private static func reader(for folder: String) -> (ProcessReader, Int32)? {
        guard let reader = current.withLock({ $0 }),
            let number = folder.split(separator: "/").last.flatMap({ Int32($0) })
        else { return nil }
        return (reader, number)
    }

    /// - Throws: what the child has found, or why it did not answer.
    func ask(
        _ question: sandbox_question, about process: Int32
    ) throws(SystemFailure) -> (text: String, file: sandbox_file) {
        switch exchange(question, about: process) {
        case .answer(let text, let file): return (text, file)
        case .refusal(let failure), .silence(let failure): throw failure
        }
    }

    private enum Reply {
        case answer(String, sandbox_file)
        case refusal(SystemFailure)
        /// The child has not answered.
        case silence(SystemFailure)
    }

    /// Any answer will do: the child may not be allowed to read about itself.
    private func isAnswering() -> Bool {
        if case .silence = exchange(SANDBOX_USER_NAMESPACE, about: processID) { return false }
        return true
    }

    private func exchange(_ question: sandbox_question, about process: Int32) -> Reply {
        state.withLock { state in
            if state.isLate {
                switch sandbox_result(UInt32(bitPattern: sandbox_await(socket, state.number))) {
                case SANDBOX_ANSWERED:
                    state.isLate = false
                    Self.logger.notice("The process that identifies clients answers again.")
                case SANDBOX_WAITING: return .silence(Self.late)
                default: return end()
                }
            }
            state.number &+= 1
            return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.longestPath) { buffer in
                var (file, length) = (sandbox_file(), 0)
                let result = unsafe sandbox_ask(
                    socket, state.number, CInt(question.rawValue), process, &file, buffer.baseAddress, buffer.count,
                    &length)
                switch sandbox_result(UInt32(bitPattern: result)) {
                case SANDBOX_ANSWERED:
                    let bytes = unsafe buffer[..<length].map { UInt8(bitPattern: $0) }
                    return .answer(String(decoding: bytes, as: UTF8.self), file)
                case SANDBOX_REFUSED: return .refusal(SystemFailure("ask about process \(process)"))
                case SANDBOX_WAITING:
                    state.isLate = true
                    Self.logger.error(
                        "The process that identifies clients does not answer. Until it does, clients count as limited.")
                    return .silence(Self.late)
                default: return end()
                }
            }
        }
    }

    private static let late = SystemFailure("ask the process that identifies clients", number: ETIMEDOUT)
    private static let gone = SystemFailure("ask the process that identifies clients", number: EPIPE)
    private static var logger: Logger { AgentLog(level: .notice).logger() }

    private func end() -> Reply {
        ended.set(true)
        return .silence(Self.gone)
    }
}

extension FileVersion {
    /// `nil`: the file is not known.
    fileprivate init?(_ file: sandbox_file) {
        guard file.inode != 0 else { return nil }
        self.init(
            device: file.device, inode: file.inode, size: file.size, modified: file.modified, changed: file.changed)
    }
}
