import AuthConcurrency
import AuthSockets
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Sockets for responses", .timeLimit(.minutes(1)))
struct OutputSocketTests {
    private static let room = 16 << 10

    private static func write(_ text: String, to socket: OutputSocket) -> Int? {
        Array(text.utf8).withUnsafeBytes { socket.write($0) }
    }

    /// As many bytes as fit.
    private static func fill(_ socket: OutputSocket) -> Int {
        let piece = [UInt8](repeating: 1, count: 4 << 10)
        var count = 0
        while let more = piece.withUnsafeBytes({ socket.write($0) }), more > 0 { count += more }
        return count
    }

    /// `nil`: there is nothing now. Empty: the end.
    private static func read(_ number: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(number, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Returns when the socket is ready.
    private static func wait(for socket: OutputSocket) async {
        let ready = OneShot<Void>()
        socket.whenReady { ready.send(()) }
        _ = await ready.value()
    }

    @Test("a client gets what is written, and then the end; a full socket is ready again once the client has read")
    func writing() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try OutputSocket.open(on: executor, room: Self.room)
        #expect(Self.read(end.number) == nil)
        #expect(Self.write("one", to: socket) == 3)
        #expect(Self.read(end.number) == Array("one".utf8))
        let count = Self.fill(socket)
        #expect(Self.room / 2...3 * Self.room ~= count, "\(count)")
        #expect(Self.write("x", to: socket) == 0)
        async let ready: Void = Self.wait(for: socket)
        var left = count
        while let bytes = Self.read(end.number) { left -= bytes.count }
        #expect(left == 0)
        await ready
        #expect(Self.write("two", to: socket) == 3)
        socket.close()
        socket.close()
        #expect(Self.write("x", to: socket) == nil)
        await executor.stop()
        #expect(Self.read(end.number) == Array("two".utf8))
        #expect(Self.read(end.number) == [])
        end.close()
    }

    @Test("a client that closes its end is noticed, even while a writer waits for room", arguments: [true, false])
    func closedByClient(waits: Bool) async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try OutputSocket.open(on: executor, room: Self.room)
        if waits {
            _ = Self.fill(socket)
            async let ready: Void = Self.wait(for: socket)
            end.close()
            await ready
        } else {
            end.close()
        }
        #expect(Self.write("x", to: socket) == nil)
        socket.close()
        await executor.stop()
    }

    @Test("the end of the sockets' thread closes a socket that a writer waits for")
    func stopping() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try OutputSocket.open(on: executor, room: Self.room)
        _ = Self.fill(socket)
        async let ready: Void = Self.wait(for: socket)
        await executor.stop()
        socket.close()
        await ready
        while let bytes = Self.read(end.number), !bytes.isEmpty {}
        #expect(Self.read(end.number) == [])
        end.close()
    }

    @Test("a client can send neither bytes nor descriptors, and its end does not block and is not inherited")
    func oneWay() async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try OutputSocket.open(on: executor, room: Self.room)
        #expect(fcntl(end.number, F_GETFD) == FD_CLOEXEC)
        #expect(Self.read(end.number) == nil && errno == EAGAIN)
        for kind in [MSG_NOSIGNAL, MSG_NOSIGNAL | MSG_OOB] {
            #expect(send(end.number, "x", 1, CInt(kind)) < 0 && errno == EPIPE)
        }
        // Descriptors (SCM_RIGHTS) are sent with at least one byte.
        var byte: UInt8 = 1
        let sent = withUnsafeMutablePointer(to: &byte) { byte in
            var part = iovec(iov_base: byte, iov_len: 1)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                (message.msg_iov, message.msg_iovlen) = (part, 1)
                return sendmsg(end.number, &message, CInt(MSG_NOSIGNAL))
            }
        }
        #expect(sent < 0 && errno == EPIPE)
        #expect(Self.write("abc", to: socket) == 3)
        end.close()
        socket.close()
        await executor.stop()
    }

    @Test("the end of a socket is reported once, when its descriptor has been closed")
    func counted() async throws {
        let executor = try SocketExecutor()
        let closings = Mutex(0)
        for isClosed in [false, true] {
            let (socket, end) = try OutputSocket.open(on: executor, room: Self.room) { closings.withLock { $0 += 1 } }
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
