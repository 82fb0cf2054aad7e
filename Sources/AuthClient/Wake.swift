import AuthConnection
import Glibc

/// Lets any thread end another's poll(2). A socket pair, because it can be created close-on-exec.
struct Wake: Sendable {
    let reading: Descriptor
    private let writing: Descriptor

    init() throws(ClientError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system(systemText("socketpair", errno)) }
        reading = Descriptor(ends[0])
        writing = Descriptor(ends[1])
    }

    /// Ignores a full buffer: the other side has not read it yet.
    func signal() {
        var byte: UInt8 = 1
        _ = unsafe write(writing.number, &byte, 1)
    }

    func clear() {
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        while unsafe read(reading.number, &bytes, bytes.count) > 0 {}
    }
}
