import AuthConnection
import AuthWire
import Glibc

/// Reads small files and descriptors whole.
enum FileText {
    /// - Parameter isBlocking: whether to wait for the writer of a pipe.
    static func read(_ path: String, atMost limit: Int, isBlocking: Bool = true) throws(Failure) -> String {
        if path == "-" { try ReadInputs.claim(STDIN_FILENO, for: "the file -") }
        let flags = O_RDONLY | O_CLOEXEC | (isBlocking ? 0 : O_NONBLOCK)
        let number = path == "-" ? dup(STDIN_FILENO) : unsafe open(path, flags)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        let bytes = try read(file.number, named: path, atMost: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(status: .badSettings, kind: "settings", message: "\(path) is not UTF-8 text")
        }
        return text
    }

    /// Reads to the end. The descriptor stays open.
    static func read(_ descriptor: Int32, named name: String, atMost limit: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe Glibc.read(descriptor, &part, part.count)
            if count < 0 {
                guard errno == EINTR else { throw .usage("cannot read \(name): \(SystemError.text(errno))") }
                continue
            }
            if count == 0 { return bytes }
            bytes += part[..<count]
            guard bytes.count <= limit else { throw .usage("\(name) is longer than \(limit) bytes") }
        }
    }
}
