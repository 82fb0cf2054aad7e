import AuthFiles
import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// The kernel reports each event of a socket once, and a read may leave input behind.
@Suite("A client's socket whose events the kernel reports once", .timeLimit(.minutes(1)))
struct ClientSocketTests {
    /// Records what a socket passes on, in order. Only the executor's thread calls it.
    private final class Receiver: ClientSocketDelegate, Sendable {
        struct Seen: Equatable {
            var bytes: [UInt8] = []
            var hasEnded = false
            var isClosed = false
        }

        struct State {
            var seen = Seen()
            /// One for each read.
            var senders: [Int32] = []
            var rooms = 0
            var isDeferred = false
            var readsLater = false
        }

        private let state = Mutex(State())

        var now: State { state.withLock { $0 } }
        var all: Seen { now.seen }
        func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

        var isDeferred: Bool { now.isDeferred }
        func readsLater() -> Bool { now.readsLater }
        func answeredAtOnce(_ bytes: UnsafeRawBufferPointer, from sender: PeerCredentials) -> Bool { false }
        func received(_ bytes: ByteBuffer, from sender: PeerCredentials) {
            change {
                $0.seen.bytes += bytes.readableBytesView
                $0.senders.append(sender.processID)
            }
        }
        func inputEnded() { change { $0.seen.hasEnded = true } }
        func sentSome() {}
        func roomReturned() { change { $0.rooms += 1 } }
        func closed(_ failure: SystemFailure?) { change { $0.seen.isClosed = true } }
    }

    /// How a client ends its connection.
    enum End: CaseIterable {
        case close, shutdown
    }

    // @unchecked Sendable: only the executor's thread uses the socket.
    private struct Pair: @unchecked Sendable {
        let executor: SocketExecutor
        let receiver = Receiver()
        let socket: ClientSocket
        let client: CInt

        /// - Parameter lowest: the socket's descriptor is the first free one from this number on.
        init(on executor: SocketExecutor? = nil, lowest: CInt = 0) throws {
            // Child processes of other tests must not keep the sockets open.
            let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
            var ends: [CInt] = [-1, -1]
            guard socketpair(AF_UNIX, CInt(kind), 0, &ends) == 0 else { throw SystemFailure("make two sockets") }
            client = ends[1]
            let moved = fcntl(ends[0], F_DUPFD_CLOEXEC, lowest)
            close(ends[0])
            guard moved >= 0 else { throw SystemFailure("move a descriptor") }
            self.executor = try executor ?? SocketExecutor()
            socket = ClientSocket(moved, of: getpid(), on: self.executor, marks: 1024...4096)
            _ = socket.asksForSenders()
        }

        /// Runs `work` while the thread of the sockets does nothing else, then has it open the socket.
        /// - Parameter reportsUnread: `false`: as before Linux 6.17.
        func open(isReading: Bool = true, reportsUnread: Bool = true, after work: () -> Void = {}) {
            work()
            executor.perform { [self] in
                try? socket.open(for: receiver)
                let (option, size) = (CInt(84), socklen_t(MemoryLayout<CInt>.size))
                if !reportsUnread { setsockopt(socket.openDescriptor ?? -1, SOL_SOCKET, option, [0], size) }
                if !isReading { socket.setReading(false) }
            }
        }

        func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                executor.perform { continuation.resume(returning: work()) }
            }
        }

        /// Returns when the kernel has reported everything that is pending now.
        func turn() async {
            // A turn runs blocks first, and then asks the kernel.
            for _ in 1...2 { await onThread {} }
        }

        func write(_ bytes: [UInt8]) -> Bool { Glibc.write(client, bytes, bytes.count) == bytes.count }

        /// The bytes that the client can read now; `nil` at the end.
        func read() -> [UInt8]? {
            var room = [UInt8](repeating: 0, count: 64 << 10)
            let count = Glibc.read(client, &room, room.count)
            return count == 0 ? nil : Array(room.prefix(max(0, count)))
        }

        func end(_ end: End) {
            switch end {
            case .close: close(client)
            case .shutdown: shutdown(client, CInt(SHUT_RDWR))
            }
        }

        /// One byte, with a descriptor that is passed on (unix(7), SCM_RIGHTS).
        func writeWithDescriptor(_ byte: UInt8, _ descriptor: CInt = STDIN_FILENO) -> Bool {
            var byte = byte
            // A cmsghdr: its length, the level, the type, then the descriptor.
            var control: [UInt32] = [20, 0, UInt32(SOL_SOCKET), UInt32(SCM_RIGHTS), UInt32(descriptor), 0]
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

    /// Receives messages with descriptors.
    private struct LocalConnection {
        private let number: CInt

        init(_ number: CInt) { self.number = number }

        /// The descriptor that comes with the text.
        func receive(expecting text: String) -> CInt? {
            var room = [UInt8](repeating: 0, count: 64)
            var control = [UInt32](repeating: 0, count: 6)
            let count = room.withUnsafeMutableBytes { room in
                var part = iovec(iov_base: room.baseAddress, iov_len: room.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    control.withUnsafeMutableBytes { control in
                        var message = msghdr()
                        (message.msg_iov, message.msg_iovlen) = (part, 1)
                        (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                        return recvmsg(number, &message, 0)
                    }
                }
            }
            guard count == text.utf8.count, Array(room.prefix(count)) == Array(text.utf8) else { return nil }
            // A cmsghdr: its length, the level, the type, then the descriptor.
            guard control[2] == UInt32(SOL_SOCKET), control[3] == UInt32(SCM_RIGHTS) else { return nil }
            return CInt(bitPattern: control[4])
        }
    }

    /// - Parameter end: how the client has ended its connection.
    private func stop(_ pair: Pair, after end: End = .shutdown) async {
        await pair.executor.stop()
        if end != .close { close(pair.client) }
    }

    @Test("a line is sent with its descriptor, or not at all while others wait")
    func descriptor() async throws {
        let pair = try Pair()
        pair.open()
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let writing = ends[1]
        let connection = LocalConnection(pair.client)
        #expect(await pair.onThread { pair.socket.send(Array("a\n".utf8), passing: writing) })
        close(writing)
        let passed = try #require(connection.receive(expecting: "a\n"))
        #expect(write(passed, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
        // More than the kernel buffers for the client.
        await pair.onThread { pair.socket.send(ByteBuffer(repeating: 1, count: 1 << 20)) }
        #expect(await !pair.onThread { pair.socket.send(Array("b\n".utf8), passing: passed) })
        close(passed)
        close(ends[0])
        await stop(pair)
    }

    // MARK: Input

    @Test("two messages, the first with a descriptor: one read returns only the first", arguments: [true, false])
    func twoMessages(reportsUnread: Bool) async throws {
        let pair = try Pair()
        pair.open(reportsUnread: reportsUnread) {
            #expect(pair.writeWithDescriptor(UInt8(ascii: "a")))
            #expect(pair.write([UInt8(ascii: "b")]))
        }
        #expect(try await until { pair.receiver.all.bytes == Array("ab".utf8) })
        await stop(pair)
    }

    @Test("a descriptor that comes with a message is closed")
    func passedDescriptor() async throws {
        let (pair, other) = (try Pair(), try Pair())
        pair.open { #expect(pair.writeWithDescriptor(1, other.client)) }
        #expect(try await until { pair.receiver.all.bytes == [1] })
        close(other.client)
        other.open()
        #expect(try await until { other.receiver.all.hasEnded })
        await stop(pair)
        await stop(other, after: .close)
    }

    @Test("bytes of two processes: one read returns those of the first, and each has its sender")
    func twoProcesses() async throws {
        let pair = try Pair()
        #expect(pair.write([UInt8(ascii: "a")]))
        let child = try await Child(
            ["sh", "-c", "printf b >&3"], environment: ["PATH": "/usr/bin:/bin"], passed: [pair.client])
        #expect(await child.ended() == 0)
        pair.open()
        #expect(try await until { pair.receiver.now.senders.count == 2 })
        #expect(pair.receiver.now.senders == [getpid(), child.pid])
        #expect(pair.receiver.all.bytes == Array("ab".utf8))
        await stop(pair)
    }

    @Test("the end after a message: shorter than one read, as long, and longer", arguments: [1, 16_384, 100_000])
    func end(count: Int) async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: count)
        pair.open {
            #expect(pair.write(bytes))
            shutdown(pair.client, CInt(SHUT_WR))
        }
        #expect(try await until { pair.receiver.all == .init(bytes: bytes, hasEnded: true) })
        await stop(pair)
    }

    @Test("a message as long as one read, and another message after it")
    func wholeRead() async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: 65_536)
        pair.open { #expect(pair.write(bytes)) }
        #expect(try await until { pair.receiver.all.bytes.count == bytes.count })
        await pair.turn()
        #expect(pair.receiver.all == .init(bytes: bytes))
        #expect(pair.write([1]))
        #expect(try await until { pair.receiver.all.bytes == bytes + [1] })
        await stop(pair)
    }

    @Test("input that came while the socket was not read from")
    func later() async throws {
        let pair = try Pair()
        pair.open(isReading: false) { #expect(pair.write([1, 2])) }
        await pair.turn()
        #expect(pair.receiver.all.bytes.isEmpty)
        #expect(pair.write([3]))
        await pair.onThread { pair.socket.setReading(true) }
        #expect(try await until { pair.receiver.all.bytes == [1, 2, 3] })
        await stop(pair)
    }

    @Test("input that is read later: first one read, then the rest and the end", arguments: [1, 16_384, 100_000])
    func readLater(count: Int) async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: count)
        pair.receiver.change { $0.readsLater = true }
        pair.open {
            #expect(pair.write(bytes))
            shutdown(pair.client, CInt(SHUT_WR))
        }
        await pair.turn()
        await pair.onThread { pair.socket.setReading(false) }
        #expect(pair.receiver.all == .init())
        pair.receiver.change { $0.readsLater = false }
        let first = await pair.onThread { () -> Int in
            pair.socket.setReading(true)
            pair.socket.readNow()
            return pair.receiver.all.bytes.count
        }
        #expect(first == min(count, 16_384))
        #expect(try await until { pair.receiver.all == .init(bytes: bytes, hasEnded: true) })
        await stop(pair)
    }

    // MARK: Output

    @Test("output that the client does not receive at once follows as it reads, and then the end")
    func waitingOutput() async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        pair.open()
        let hasRoom = await pair.onThread { () -> Bool in
            pair.socket.send(ByteBuffer(bytes: bytes))
            pair.socket.send(ByteBuffer(bytes: [1]))
            pair.socket.endOutputWhenSent()
            return pair.socket.hasRoom
        }
        #expect(!hasRoom)
        var received: [UInt8] = []
        let hasEnded = try await until {
            guard let piece = pair.read() else { return true }
            received += piece
            return false
        }
        #expect(hasEnded && received == bytes + [1])
        await pair.turn()
        #expect(pair.receiver.now.rooms == 1)
        await stop(pair)
    }

    @Test("what one turn does not send is sent in later turns, even if the client reads nothing meanwhile")
    func pieces() async throws {
        let pair = try Pair()
        let size = 64 << 10
        pair.open()
        let waiting = await pair.onThread { () -> [Int] in
            // Room for more than a turn sends: the kernel allows at least twice net.core.wmem_max.
            var room: CInt = 1 << 20
            setsockopt(
                pair.socket.openDescriptor ?? -1, SOL_SOCKET, SO_SNDBUF, &room, socklen_t(MemoryLayout<CInt>.size))
            return (0..<2).map { part in
                pair.socket.send((0..<8).map { ByteBuffer(repeating: UInt8(8 * part + $0), count: size) })
                return pair.socket.waiting
            }
        }
        #expect(waiting == [4 * size, 12 * size])
        #expect(try await until { await pair.onThread { pair.socket.waiting } < 12 * size })
        var received: [UInt8] = []
        _ = try await until {
            received += pair.read() ?? []
            return received.count == 16 * size
        }
        #expect(received == (UInt8(0)..<16).flatMap { [UInt8](repeating: $0, count: size) })
        await stop(pair)
    }

    // MARK: Closing

    @Test("a client that has disconnected: its input is read first", arguments: [1, 100_000], End.allCases)
    func gone(count: Int, end: End) async throws {
        let pair = try Pair()
        let bytes = [UInt8](repeating: 7, count: count)
        pair.open {
            #expect(pair.write(bytes))
            pair.end(end)
        }
        #expect(try await until { pair.receiver.all.isClosed })
        #expect(pair.receiver.all == .init(bytes: bytes, hasEnded: true, isClosed: true))
        await stop(pair, after: end)
    }

    @Test("a client that disconnects while earlier input waits is closed after that input", arguments: End.allCases)
    func goneWhileDeferred(end: End) async throws {
        let pair = try Pair()
        pair.receiver.change { $0.isDeferred = true }
        pair.open(isReading: false)
        pair.end(end)
        await pair.turn()
        #expect(!pair.receiver.all.isClosed)
        pair.receiver.change { $0.isDeferred = false }
        #expect(try await until { pair.receiver.all.isClosed })
        await stop(pair, after: end)
    }

    @Test("a client that is closed while it is queued: the next client with its descriptor gets its own turns")
    func reusedDescriptor() async throws {
        // The last ones: other tests use lower descriptors.
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let lowest = min(CInt(clamping: limit.rlim_cur), 20_000) - 64
        let former = try Pair(lowest: lowest)
        let opened = await former.onThread { () -> Pair? in
            try? former.socket.open(for: former.receiver)
            guard let descriptor = former.socket.openDescriptor else { return nil }
            former.executor.serveAgain(descriptor, for: .input)
            former.socket.close()
            guard let next = try? Pair(on: former.executor, lowest: lowest),
                next.socket.openDescriptor == descriptor, next.writeWithDescriptor(1), next.write([2])
            else { return nil }
            try? next.socket.open(for: next.receiver)
            return next
        }
        let next = try #require(opened)
        #expect(try await until { next.receiver.all.bytes == [1, 2] })
        // It learns of its end in a turn after the one that closed it, maybe after the next client's input.
        #expect(try await until { former.receiver.all.isClosed })
        #expect(former.receiver.all == .init(isClosed: true))
        #expect(!next.receiver.all.isClosed)
        await stop(former)
        close(next.client)
    }
}
