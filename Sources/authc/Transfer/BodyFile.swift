import AuthConnection
import AuthWire
import CLinux
import Glibc

/// A file or stdin that is too long for one line. It is read piece by piece, as the agent requests.
final class BodyFile {
    enum Content {
        case bytes([UInt8])
        case stream(BodyFile)
    }

    let announced: BodyStream
    private let name: String
    private let file: Descriptor
    /// Where the body begins in the file.
    private let start: Int
    /// For input that can be read only once: the bytes that were read to find its length.
    private var head: [UInt8]
    private var position: Int

    private init(_ file: Descriptor, named name: String, start: Int, size: Int?, head: [UInt8]) {
        self.file = file
        self.name = name
        self.start = start
        self.head = head
        position = head.count
        announced = BodyStream(size: size, once: size == nil)
    }

    /// - Parameters:
    ///   - path: `-` is stdin.
    ///   - limit: up to this size the file is read whole.
    static func open(_ path: String, wholeUpTo limit: Int) throws(Failure) -> Content {
        if path == "-" { try ReadInputs.claim(STDIN_FILENO, for: "the file -") }
        let number = path == "-" ? dup(STDIN_FILENO) : unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        var about = stat()
        let start = lseek(number, 0, SEEK_CUR)
        if unsafe fstat(number, &about) == 0, about.st_mode & S_IFMT == S_IFREG, start >= 0 {
            let size = max(0, Int(about.st_size) - start)
            if size > limit { return .stream(BodyFile(file, named: path, start: start, size: size, head: [])) }
        }
        let head = try read(number, named: path, upTo: limit + 1)
        guard head.count > limit else { return .bytes(head) }
        return .stream(BodyFile(file, named: path, start: 0, size: nil, head: head))
    }

    /// The piece at `offset`, and whether it is the last.
    func piece(at offset: Int) throws(Failure) -> (bytes: [UInt8], isLast: Bool) {
        guard let size = announced.size else { return try nextPiece(at: offset) }
        let count = min(Limits.pieceBytes, size - offset)
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try unsafe Self.read(named: name, upTo: count - bytes.count) { buffer in
                unsafe pread(file.number, buffer.baseAddress, buffer.count, off_t(start + offset + bytes.count))
            }
            guard !part.isEmpty else { throw becameShorter }
            bytes += part
        }
        return (bytes, offset + bytes.count == size)
    }

    /// Whether ``send(to:from:)`` can be used.
    var isFile: Bool { announced.size != nil }

    enum Sent {
        case sent(Int)
        /// The socket is full.
        case later
        /// Nobody reads from the socket any more.
        case unread
        /// sendfile(2) does not support this file.
        case unsupported
    }

    /// Sends as much of the file from `offset` on as the socket accepts now. The kernel moves the bytes without a copy.
    func send(to socket: Descriptor, from offset: Int) throws(Failure) -> Sent {
        let rest = (announced.size ?? 0) - offset
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        while true {
            let most = min(rest, Limits.bodySocketBytes)
            let count = linux_send_file(socket.number, file.number, Int64(start + offset), most)
            if count > 0 { return .sent(count) }
            guard count < 0 else { throw becameShorter }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .later
            case EPIPE, ECONNRESET: return .unread
            case EINVAL, ENOSYS: return .unsupported
            default: throw .usage("cannot read \(name): \(SystemError.text(errno))")
            }
        }
    }

    private var becameShorter: Failure {
        Failure(
            status: .refusedData, kind: ErrorKind.validation.rawValue,
            message: "\(name) became shorter while it was sent")
    }

    private func nextPiece(at offset: Int) throws(Failure) -> (bytes: [UInt8], isLast: Bool) {
        if offset < head.count {
            let end = min(offset + Limits.pieceBytes, head.count)
            return (Array(head[offset..<end]), false)
        }
        head = []
        guard offset == position else {
            throw Failure(
                status: .temporary, kind: ErrorKind.providerError.rawValue,
                message: "the body must be sent again, and \(name) can be read only once", hint: "use a file")
        }
        let bytes = try Self.read(file.number, named: name, upTo: Limits.pieceBytes)
        position += bytes.count
        return (bytes, bytes.count < Limits.pieceBytes)
    }

    /// Returns fewer bytes only at the end.
    private static func read(_ number: Int32, named name: String, upTo limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            let part = try unsafe read(named: name, upTo: min(limit - bytes.count, 64 << 10)) { buffer in
                unsafe Glibc.read(number, buffer.baseAddress, buffer.count)
            }
            if part.isEmpty { return bytes }
            bytes += part
        }
        return bytes
    }

    private static func read(
        named name: String, upTo limit: Int, _ read: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) throws(Failure) -> [UInt8] {
        while true {
            var (count, code): (Int, Int32) = (0, 0)
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                count = unsafe read(buffer)
                code = errno
                filled = max(0, count)
            }
            if count >= 0 { return bytes }
            guard code == EINTR else { throw .usage("cannot read \(name): \(SystemError.text(code))") }
        }
    }
}
