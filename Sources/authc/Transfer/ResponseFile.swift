import AuthConnection
import AuthFiles
import AuthWire
import CLinux
import Glibc

/// The file of `--output` and `export`. It gets its final name only when it is complete.
///
/// It is not an `AtomicFile`: a response is written piece by piece as it arrives, may be larger than memory, keeps the mode of
/// the former file, and may go to stdout, a device or a pipe.
final class ResponseFile {
    private let name: String
    private let file: Descriptor
    /// The name until the file is complete; `nil` for stdout, a device or a pipe.
    private var temporary: String?
    /// The target, if the name is a link.
    private let path: String
    /// For what arrives in a socket. It is so large that the system calls cost little compared with the copies.
    private var buffer: [UInt8] = []
    private static let bufferBytes = 256 << 10

    /// - Parameter name: as typed; `-` is stdout.
    convenience init(_ name: String) throws(Failure) { try self.init(name, isPrivate: false) }

    /// - Parameter isPrivate: only the owner can read the file, even if others could read the former one.
    init(_ name: String, isPrivate: Bool) throws(Failure) {
        self.name = name
        // The size limit of a file must be an error, not end the program (setrlimit(2)).
        signal(SIGXFSZ, SIG_IGN)
        guard name != "-" else {
            (file, path) = (Descriptor(dup(STDOUT_FILENO)), name)
            return
        }
        var about = stat()
        let exists = unsafe stat(name, &about) == 0
        path = exists ? Self.resolved(name) : name
        let isPlain = !exists || about.st_mode & S_IFMT == S_IFREG
        let target = isPlain ? Self.temporaryName(beside: path) : path
        let flags = O_WRONLY | O_CLOEXEC | (isPlain ? O_CREAT | O_EXCL : 0)
        let number = unsafe open(target, flags, isPrivate ? 0o600 : 0o666)
        guard number >= 0 else { throw .usage("cannot write \(name): \(Self.reason(errno))") }
        file = Descriptor(number)
        if isPlain {
            temporary = target
            if exists, !isPrivate { fchmod(number, about.st_mode & 0o7777) }
        }
    }

    deinit {
        discard()
    }

    func write(_ bytes: [UInt8]) throws(Failure) { try write(bytes[...]) }

    enum Copied {
        case bytes(Int)
        /// Nothing has arrived yet.
        case later
        case end
    }

    /// Writes what has arrived in a socket.
    func copy(from socket: Descriptor) throws(Failure) -> Copied {
        if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: Self.bufferBytes) }
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { room in
                unsafe recv(socket.number, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
            }
            switch count {
            case 0: return .end
            case 1...:
                try write(buffer[..<count])
                return .bytes(count)
            default:
                if errno == EINTR { continue }
                // The next read says how the response ended.
                return errno == EAGAIN ? .later : .end
            }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        guard name != "-" else { return try Output.bytes(bytes) }
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file.number, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw failed(errno)
            }
        }
    }

    /// There is a file to remove if the response does not become complete.
    var isUnfinished: Bool { temporary != nil }

    /// Gives the complete file its final name.
    func finish() throws(Failure) {
        guard let temporary else { return }
        // Some file systems report a full disk only now.
        guard fdatasync(file.number) == 0 || errno == EINVAL else { throw failed(errno) }
        guard unsafe rename(temporary, path) == 0 else { throw failed(errno) }
        self.temporary = nil
    }

    func discard() {
        guard let temporary else { return }
        unsafe unlink(temporary)
        self.temporary = nil
    }

    private func failed(_ code: Int32) -> Failure {
        discard()
        return Failure(
            status: .internalError, kind: "output", message: "cannot write \(name): \(Self.reason(code))",
            hint: code == ENOSPC || code == EDQUOT
                ? "free some space or choose another place; nothing was written" : nil)
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOSPC: "the disk is full"
        case EDQUOT: "your disk quota is used up"
        case EFBIG: "the file would be too large"
        case EROFS: "the disk is read-only"
        case EISDIR: "this is a folder"
        case ENOTDIR, ENOENT: "there is no such folder"
        case EIO: "the disk has failed"
        default: SystemError.text(code)
        }
    }

    /// A process that was killed may have left one, and a later process may have the same number.
    private static func temporaryName(beside path: String) -> String {
        let name = PrivateFolder.name(of: path)
        let start = String(decoding: name.utf8.prefix(200), as: UTF8.self)
        return path[..<name.startIndex] + ".\(start).authc-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }

    private static func resolved(_ name: String) -> String {
        guard let text = unsafe realpath(name, nil) else { return name }
        defer { unsafe free(text) }
        return unsafe String(cString: text)
    }
}
