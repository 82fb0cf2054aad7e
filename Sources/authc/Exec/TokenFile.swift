import AuthConnection
import AuthFiles
import AuthWire
import CLinux
import Glibc

/// A token in a file that is only in memory (tmpfs(5)), in a folder that belongs to this process alone.
///
/// The folder is locked as long as this process lives. One that is not locked was left by a process that was killed.
struct TokenFile {
    private static let prefix = "authc-exec-"
    private static let shared = "/dev/shm"
    private static let maxAttempts = 20

    let path: String
    private let folder: String
    private let lock: Descriptor

    /// Also removes folders that killed processes left.
    init() throws(Failure) {
        let base = try Self.memoryFolder()
        Self.removeLeftovers(in: base)
        (folder, lock) = try Self.lockedFolder(in: base)
        path = folder + "/token"
    }

    private static func lockedFolder(in base: String) throws(Failure) -> (String, Descriptor) {
        for _ in 1...maxAttempts {
            var template = Array("\(base)/\(prefix)XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { throw failure("make a folder in \(base)") }
            let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let number = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard number >= 0 else { continue }
            let lock = Descriptor(number)
            var status = stat()
            // Another process that starts now may have removed it, because it was not locked yet.
            let isOurs = unsafe linux_lock(number) == 0 && fstat(number, &status) == 0 && status.st_nlink > 0
            if isOurs { return (folder, lock) }
        }
        throw failure("lock a folder in \(base)")
    }

    /// Replaces the content at once: a reader gets the old or the new token.
    func write(_ token: String) throws(Failure) {
        do throws(SystemFailure) {
            try AtomicFile(path: path).replace(with: Array(token.utf8), durably: false)
        } catch {
            throw .internalError("cannot write \(path) (\(SystemError.text(error.number)))")
        }
    }

    func remove() { Self.remove(folder) }

    private static func remove(_ folder: String) {
        // A killed process may have left the draft of a token; `next` is that of an older authc.
        for name in ["token", ".token.new", "next"] { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }

    private static func memoryFolder() throws(Failure) -> String {
        let runtime = environmentValue("XDG_RUNTIME_DIR") ?? ""
        for folder in [runtime, shared] where folder.hasPrefix("/") {
            let number = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard number >= 0 else { continue }
            let found = Descriptor(number)
            var status = stat()
            // With sudo, the variable may name another user's folder.
            let isSafe = unsafe folder == shared || fstat(found.number, &status) == 0 && status.st_uid == geteuid()
            if isSafe, linux_is_in_memory(found.number) != 0, unsafe access(folder, W_OK) == 0 { return folder }
        }
        throw Failure(
            status: .internalError, kind: ErrorKind.internal_.rawValue,
            message: "neither $XDG_RUNTIME_DIR nor \(shared) is a folder in memory; the token was not written",
            hint: "pass it with --env or --fd")
    }

    private static func removeLeftovers(in base: String) {
        for name in (try? FolderEntries.names(in: base)) ?? [] where name.hasPrefix(prefix) {
            let path = "\(base)/\(name)"
            let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard number >= 0 else { continue }
            let left = Descriptor(number)
            var status = stat()
            guard unsafe fstat(left.number, &status) == 0, status.st_uid == getuid(), linux_lock(left.number) == 0
            else { continue }
            remove(path)
        }
    }

    private static func failure(_ action: String) -> Failure {
        .internalError("cannot \(action) (\(SystemError.text(errno)))")
    }
}

/// A token in a memory file without a name, for a program that inherits it.
enum TokenDescriptor {
    static func make(_ token: String) throws(Failure) -> Descriptor {
        let number = unsafe linux_memory_file("token")
        guard number >= 0 else { throw .internalError("cannot make a file in memory (\(SystemError.text(errno)))") }
        let file = Descriptor(number)
        let bytes = Array(token.utf8)
        guard unsafe Glibc.write(number, bytes, bytes.count) == bytes.count, lseek(number, 0, SEEK_SET) == 0 else {
            throw .internalError("cannot write to a file in memory (\(SystemError.text(errno)))")
        }
        return file
    }
}
