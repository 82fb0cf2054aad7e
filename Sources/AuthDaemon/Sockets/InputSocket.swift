import AuthAgent
import AuthFiles
import CSystemd
import Glibc

/// Our end of a pair of sockets. A client writes a body to the other end.
///
/// It only receives: no bytes leave the agent through it, and no descriptors come in. From Linux 6.16 on, a client
/// cannot block a call: each end has its own lock in the kernel, and bytes are read without waiting. The ends of a pipe
/// share one lock, and a client could hold it with a splice(2) from a file that does not answer. The reader's thread
/// reads; the executor only watches the socket while the reader waits. If it cannot be watched, it is closed, and the
/// client asks for another one.
///
/// @unchecked Sendable: it adds no state to ``WatchedSocket``.
final class InputSocket: WatchedSocket, BodySocket, @unchecked Sendable {
    /// - Parameters:
    ///   - room: bytes that the kernel holds for the reader. It doubles the number for its own data about them, and
    ///     allows at most `net.core.wmem_max` (socket(7)).
    ///   - refusesDescriptors: fails on kernels that cannot refuse descriptors (before Linux 6.16). They close a
    ///     descriptor that the client sends in the reader's thread, which may take long.
    ///   - whenClosed: called once, when the agent's end has been closed; not if an error is thrown.
    /// - Returns: the socket, and the client's end, which the caller closes. Neither blocks.
    static func open(
        on executor: SocketExecutor, room: Int, refusesDescriptors: Bool = false,
        whenClosed: @escaping @Sendable () -> Void = {}
    ) throws(SystemFailure) -> (socket: InputSocket, end: ClientEnd) {
        var ends: (CInt, CInt) = (-1, -1)
        let made = unsafe withUnsafeMutablePointer(to: &ends) { pair in
            unsafe pair.withMemoryRebound(to: CInt.self, capacity: 2) {
                unsafe authd_body_sockets($0, CInt(room), refusesDescriptors)
            }
        }
        guard made == 0 else { throw SystemFailure("create sockets for a body") }
        return (InputSocket(ends.0, for: .input, on: executor, whenClosed: whenClosed), ClientEnd(number: ends.1))
    }

    var isReady: Bool {
        withDescriptor { descriptor in
            guard let descriptor else { return true }
            var found = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe Glibc.poll(&found, 1, 0) > 0
        }
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> Int? {
        withDescriptor { descriptor in
            guard let descriptor else { return 0 }
            while true {
                let count = unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
                if count >= 0 { return count }
                guard errno == EINTR else { return errno == EAGAIN ? nil : 0 }
            }
        }
    }
}
