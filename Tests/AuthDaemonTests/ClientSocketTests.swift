import AuthFiles
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// The kernel reports input once, and a read may leave some of it.
@Suite("Input of a client that arrives at once", .timeLimit(.minutes(1)))
struct ClientSocketTests {
    /// What a socket passes on, in order. Only the executor's thread calls it.
    private final class Receiver: ClientSocketDelegate, Sendable {
        struct Seen: Equatable {
            var bytes: [UInt8] = []
            var hasEnded = false
            var isClosed = false
        }

        private let seen = Mutex(Seen())

        var all: Seen { seen.withLock { $0 } }
        var isDeferred: Bool { false }
        func readsLater() -> Bool { false }
        func answeredAtOnce(_ bytes: UnsafeRawBufferPointer, from sender: PeerCredentials) -> Bool { false }
        func received(_ bytes: ByteBuffer, from sender: PeerCredentials) {
            seen.withLock { $0.bytes += bytes.readableBytesView }
        }
        func inputEnded() { seen.withLock { $0.hasEnded = true } }
        func sentSome() {}
        func roomReturned() {}
        func closed(_ failure: SystemFailure?) { seen.withLock { $0.isClosed = true } }
    }

    // @unchecked Sendable: only the executor's thread uses the socket.
    private struct Pair: @unchecked Sendable {
        let executor: SocketExecutor
        let receiver = Receiver()
        let socket: ClientSocket
        let client: CInt

        /// - Parameter senders: whether the kernel reports them, as for the agent's clients.
        init(senders: Bool = true) throws {
            var ends: [CInt] = [-1, -1]
            guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
                throw SystemFailure("make two sockets")
            }
            client = ends[1]
            executor = try SocketExecutor()
            socket = ClientSocket(ends[0], of: getpid(), on: executor, marks: 1024...4096)
            if senders { _ = socket.asksForSenders() }
        }

        /// Runs `work` while the thread of the sockets does nothing else, then has it open the socket.
        func open(isReading: Bool = true, after work: () -> Void) {
            work()
            executor.perform { [self] in
                try? socket.open(for: receiver)
                if !isReading { socket.setReading(false) }
            }
        }

        func write(_ bytes: [UInt8]) -> Bool { Glibc.write(client, bytes, bytes.count) == bytes.count }

        /// One byte, with standard input as a descriptor that is passed on (unix(7), SCM_RIGHTS).
        func writeWithDescriptor(_ byte: UInt8) -> Bool {
            var byte = byte
            // A cmsghdr: its length, the level, the type, then the descriptor.
            var control: [UInt32] = [20, 0, UInt32(SOL_SOCKET), UInt32(SCM_RIGHTS), UInt32(STDIN_FILENO), 0]
            return withUnsafeMutablePointer(to: &byte) { start in
                var part = iovec(iov_base: start, iov_len: 1)
                return withUnsafeMutablePointer(to: &part) { part in
                    control.withUnsafeMutableBytes { control in
                        var message = msghdr()
                        (message.msg_iov, message.msg_iovlen) = (part, 1)
                        (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                        return sendmsg(client, &message, 0) == 1
                    }
                }
            }
        }
    }

    private func end(_ pair: Pair) async {
        await pair.executor.stop()
        close(pair.client)
    }

    @Test("two messages, of which the first has a descriptor: one read returns only the first")
    func twoMessages() async throws {
        let pair = try Pair()
        pair.open {
            #expect(pair.writeWithDescriptor(UInt8(ascii: "a")))
            #expect(pair.write([UInt8(ascii: "b")]))
        }
        #expect(try await until { pair.receiver.all.bytes == Array("ab".utf8) })
        await end(pair)
    }

    @Test("the end after a message, and more than one read takes", arguments: [1, 100_000])
    func end(count: Int) async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: count)
        pair.open {
            #expect(pair.write(bytes))
            shutdown(pair.client, CInt(SHUT_WR))
        }
        #expect(try await until { pair.receiver.all == .init(bytes: bytes, hasEnded: true) })
        await end(pair)
    }

    @Test("a client that has gone: its input is read first", arguments: [1, 100_000])
    func gone(count: Int) async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: count)
        let other = dup(pair.client)
        pair.open {
            #expect(pair.write(bytes))
            shutdown(pair.client, CInt(SHUT_RDWR))
            close(other)
        }
        #expect(try await until { pair.receiver.all.hasEnded || pair.receiver.all.isClosed })
        #expect(pair.receiver.all.bytes == bytes)
        await end(pair)
    }

    @Test("input that came while the socket was not read from")
    func later() async throws {
        let pair = try Pair()
        pair.open(isReading: false) { #expect(pair.write([1, 2])) }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            pair.executor.perform { continuation.resume() }
        }
        #expect(pair.receiver.all.bytes.isEmpty)
        #expect(pair.write([3]))
        pair.executor.perform { pair.socket.setReading(true) }
        #expect(try await until { pair.receiver.all.bytes == [1, 2, 3] })
        await end(pair)
    }
}
