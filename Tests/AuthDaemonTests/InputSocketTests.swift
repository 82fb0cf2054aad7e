import AuthConcurrency
import AuthSockets
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Sockets for bodies", .timeLimit(.minutes(1)))
struct InputSocketTests {
    private static let room = 16 << 10

    /// `nil`: there is nothing now. Empty: the end.
    private static func read(_ socket: InputSocket) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        guard let count = bytes.withUnsafeMutableBytes({ socket.read(into: $0) }) else { return nil }
        return Array(bytes.prefix(count))
    }

    /// Returns when the socket is ready.
    private static func wait(for socket: InputSocket) async {
        let ready = OneShot<Void>()
        socket.whenReady { ready.send(()) }
        _ = await ready.value()
    }

    @Test("a reader gets what the client writes, waits for more, and sees the end")
    func reading() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
        #expect(!socket.isReady && Self.read(socket) == nil)
        for word in ["one", "two"] {
            async let ready: Void = Self.wait(for: socket)
            #expect(write(end.number, word, word.utf8.count) == word.utf8.count)
            await ready
            #expect(socket.isReady)
            #expect(Self.read(socket) == Array(word.utf8))
        }
        end.close()
        await Self.wait(for: socket)
        #expect(Self.read(socket) == [])
        socket.close()
        await executor.stop()
    }

    @Test("a client cannot write to a socket that is closed, also while nobody waits for it")
    func closing() async throws {
        // A write to such a socket would end the tests.
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        for waits in [false, true] {
            let executor = try SocketExecutor()
            let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
            if waits { socket.whenReady {} }
            socket.close()
            socket.close()
            #expect(Self.read(socket) == [])
            await executor.stop()
            #expect(write(end.number, "x", 1) < 0 && errno == EPIPE)
            end.close()
        }
    }

    @Test("the end of the sockets' thread closes a socket that somebody waits for")
    func stopping() async throws {
        let former = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, former) }
        let executor = try SocketExecutor()
        let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
        async let ready: Void = Self.wait(for: socket)
        await executor.stop()
        socket.close()
        await ready
        #expect(write(end.number, "x", 1) < 0 && errno == EPIPE)
        #expect(socket.isReady)
        end.close()
    }

    @Test("neither end blocks, the client's is not inherited, and the kernel holds what it was asked to")
    func flags() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
        #expect(fcntl(end.number, F_GETFD) == FD_CLOEXEC)
        let piece = [UInt8](repeating: 1, count: 4 << 10)
        var count = 0
        while case let more = write(end.number, piece, piece.count), more > 0 { count += more }
        #expect(errno == EAGAIN && Self.room / 2...3 * Self.room ~= count, "\(count)")
        end.close()
        socket.close()
        await executor.stop()
    }

    @Test("a client receives nothing, and none of its descriptors is received")
    func oneWay() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
        var byte: UInt8 = 0
        #expect(recv(end.number, &byte, 1, 0) == 0)

        var (on, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        let passRights: CInt = 83
        let canRefuse = getsockopt(end.number, SOL_SOCKET, passRights, &on, &length) == 0
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let sent = Self.send("x", passing: ends[1], to: end.number)
        // Linux 6.16 refuses it. An older kernel closes it.
        #expect(sent == (canRefuse ? -1 : 1))
        #expect(Self.read(socket) == (canRefuse ? nil : Array("x".utf8)))
        close(ends[1])
        // Nobody has the other end of this pipe any more.
        var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&state, 1, 0) == 1 && Int32(state.revents) & Int32(POLLHUP) != 0)
        close(ends[0])
        end.close()
        socket.close()
        await executor.stop()
    }

    /// send(2), with a descriptor.
    private static func send(_ text: String, passing passed: CInt, to number: CInt) -> Int {
        var bytes = Array(text.utf8)
        // A cmsghdr: its length, the level, the type, then the descriptor.
        var control: [UInt32] = [20, 0, UInt32(SOL_SOCKET), UInt32(SCM_RIGHTS), UInt32(bitPattern: passed), 0]
        return bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &part) { part in
                control.withUnsafeMutableBytes { control in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
                    return sendmsg(number, &message, CInt(MSG_NOSIGNAL))
                }
            }
        }
    }

    @Test("an urgent byte is content, so it does not keep a socket ready that has nothing")
    func urgent() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try InputSocket.open(on: executor, room: Self.room)
        #expect(Glibc.send(end.number, "ab", 2, CInt(MSG_OOB)) == 2)
        var bytes: [UInt8] = []
        while socket.isReady, let more = Self.read(socket) { bytes += more }
        #expect(bytes == Array("ab".utf8) && !socket.isReady)
        end.close()
        socket.close()
        await executor.stop()
    }

    @Test("the end of a socket is reported once, when its descriptor has been closed")
    func counted() async throws {
        let executor = try SocketExecutor()
        let closings = Mutex(0)
        for isClosed in [false, true] {
            let (socket, end) = try InputSocket.open(on: executor, room: Self.room) { closings.withLock { $0 += 1 } }
            if isClosed {
                socket.close()
                socket.close()
            }
            end.close()
        }
        await executor.stop()
        #expect(closings.withLock { $0 } == 2)
    }
}
