import AuthSockets
import Glibc
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Sockets for bodies", .timeLimit(.minutes(1)))
struct InputSocketTests {
    private typealias Pair = BodySocketPair<InputSocket>

    private static func open(
        _ executor: SocketExecutor, whenClosed: @escaping @Sendable () -> Void
    ) throws -> (socket: InputSocket, end: WatchedSocket.ClientEnd) {
        try InputSocket.open(on: executor, room: Pair.room, whenClosed: whenClosed)
    }

    /// `nil`: there is nothing now. Empty: the end.
    private static func read(_ socket: InputSocket) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        guard let count = bytes.withUnsafeMutableBytes({ socket.read(into: $0) }) else { return nil }
        return Array(bytes.prefix(count))
    }

    @Test("a reader gets what the client writes, waits for more, and sees the end")
    func reading() async throws {
        try await Pair.play(Self.open) { pair in
            #expect(!pair.socket.isReady && Self.read(pair.socket) == nil)
            for word in ["one", "two"] {
                async let ready: Void = pair.ready()
                #expect(pair.client.write(word))
                await ready
                #expect(pair.socket.isReady)
                #expect(Self.read(pair.socket) == Array(word.utf8))
            }
            pair.client.close()
            await pair.ready()
            #expect(Self.read(pair.socket) == [])
        }
    }

    @Test("a client cannot write to a socket that is closed, even while nobody waits for it", arguments: [false, true])
    func closing(waits: Bool) async throws {
        try await Pair.play(Self.open) { pair in
            if waits { pair.socket.whenReady {} }
            pair.socket.close()
            pair.socket.close()
            #expect(Self.read(pair.socket) == [])
            await pair.executor.stop()
            #expect(pair.client.send([1]) < 0 && errno == EPIPE)
        }
    }

    @Test("the end of the sockets' thread closes a socket that somebody waits for")
    func stopping() async throws {
        try await Pair.play(Self.open) { pair in
            async let ready: Void = pair.ready()
            await pair.executor.stop()
            pair.socket.close()
            await ready
            #expect(pair.client.send([1]) < 0 && errno == EPIPE)
            #expect(pair.socket.isReady)
        }
    }

    @Test("neither end blocks, the client's is not inherited, and the kernel holds what it was asked to")
    func flags() async throws {
        try await Pair.play(Self.open) { pair in
            #expect(fcntl(pair.client.number, F_GETFD) == FD_CLOEXEC)
            let piece = [UInt8](repeating: 1, count: 4 << 10)
            var count = 0
            while case let more = pair.client.send(piece), more > 0 { count += more }
            #expect(errno == EAGAIN && Pair.room / 2...3 * Pair.room ~= count, "\(count)")
        }
    }

    @Test("a client receives nothing, and none of its descriptors is received")
    func oneWay() async throws {
        try await Pair.play(Self.open) { pair in
            let number = pair.client.number
            #expect(pair.client.bytesNow() == [])

            var (on, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
            let passRights: CInt = 83
            let canRefuse = getsockopt(number, SOL_SOCKET, passRights, &on, &length) == 0
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            let sent = Self.send("x", passing: ends[1], to: number)
            // Linux 6.16 refuses it. An older kernel closes it.
            #expect(sent == (canRefuse ? -1 : 1))
            #expect(Self.read(pair.socket) == (canRefuse ? nil : Array("x".utf8)))
            close(ends[1])
            // Nobody has the other end of this pipe any more.
            var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            #expect(poll(&state, 1, 0) == 1 && Int32(state.revents) & Int32(POLLHUP) != 0)
            close(ends[0])
        }
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
        try await Pair.play(Self.open) { pair in
            #expect(pair.client.send(Array("ab".utf8), Int(MSG_OOB)) == 2)
            var bytes: [UInt8] = []
            while pair.socket.isReady, let more = Self.read(pair.socket) { bytes += more }
            #expect(bytes == Array("ab".utf8) && !pair.socket.isReady)
        }
    }

    @Test("the end of a socket is reported once, when its descriptor has been closed")
    func counted() async throws {
        #expect(try await Pair.reportedEnds(Self.open) == [1, 1])
    }
}
