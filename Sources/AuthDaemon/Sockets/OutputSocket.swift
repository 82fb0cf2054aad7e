import AuthAgent
import AuthFiles
import CSystemd
import Glibc

/// Our end of a pair of sockets. A client reads the body of a response from the other end.
///
/// It only sends, without waiting: neither bytes nor descriptors come in through it. A client cannot block a call: the
/// kernel copies the bytes, and a client that reads into memory that does not answer holds only the lock at the
/// client's end.
///
/// @unchecked Sendable: it adds no state to ``WatchedSocket``.
final class OutputSocket: WatchedSocket, BodyOutput, @unchecked Sendable {
    /// - Parameters: as for ``InputSocket``. `room` is for bytes that the client has not read.
    static func open(
        on executor: SocketExecutor, room: Int, whenClosed: @escaping @Sendable () -> Void = {}
    ) throws(SystemFailure) -> (socket: OutputSocket, end: ClientEnd) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFailure("create sockets for a response")
        }
        var room = CInt(room)
        let length = socklen_t(MemoryLayout<CInt>.size)
        guard shutdown(ends[0], CInt(SHUT_RD)) == 0,
            unsafe setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, length) == 0
        else {
            let failure = SystemFailure("create sockets for a response")
            for end in ends { Glibc.close(end) }
            throw failure
        }
        return (
            OutputSocket(ends[0], for: .output, on: executor, whenClosed: whenClosed), ClientEnd(number: ends[1])
        )
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        withDescriptor { descriptor in
            guard let descriptor else { return nil }
            while true {
                let count = unsafe send(
                    descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL))
                if count >= 0 { return count }
                guard errno == EINTR else { return errno == EAGAIN ? 0 : nil }
            }
        }
    }
}
