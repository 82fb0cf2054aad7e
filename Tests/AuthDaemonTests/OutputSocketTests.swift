import AuthConcurrency
import AuthSockets
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Sockets for responses", .timeLimit(.minutes(1)))
struct OutputSocketTests {
    private typealias Pair = BodySocketPair<OutputSocket>

    private static func open(
        _ executor: SocketExecutor, whenClosed: @escaping @Sendable () -> Void
    ) throws -> (socket: OutputSocket, end: WatchedSocket.ClientEnd) {
        try OutputSocket.open(on: executor, room: Pair.room, whenClosed: whenClosed)
    }

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

    @Test("a client gets what is written, and then the end; a full socket is ready again once the client has read")
    func writing() async throws {
        try await Pair.play(Self.open) { pair in
            #expect(pair.client.bytesNow() == nil)
            #expect(Self.write("one", to: pair.socket) == 3)
            #expect(pair.client.bytesNow() == Array("one".utf8))
            let count = Self.fill(pair.socket)
            #expect(Pair.room / 2...3 * Pair.room ~= count, "\(count)")
            #expect(Self.write("x", to: pair.socket) == 0)
            async let ready: Void = pair.ready()
            var left = count
            while let bytes = pair.client.bytesNow() { left -= bytes.count }
            #expect(left == 0)
            await ready
            #expect(Self.write("two", to: pair.socket) == 3)
            pair.socket.close()
            pair.socket.close()
            #expect(Self.write("x", to: pair.socket) == nil)
            await pair.executor.stop()
            #expect(pair.client.bytesNow() == Array("two".utf8))
            #expect(pair.client.bytesNow() == [])
        }
    }

    @Test("a client that closes its end is noticed, even while a writer waits for room", arguments: [true, false])
    func closedByClient(waits: Bool) async throws {
        try await Pair.play(Self.open) { pair in
            if waits {
                _ = Self.fill(pair.socket)
                async let ready: Void = pair.ready()
                pair.client.close()
                await ready
            } else {
                pair.client.close()
            }
            #expect(Self.write("x", to: pair.socket) == nil)
        }
    }

    @Test("the end of the sockets' thread closes a socket that a writer waits for")
    func stopping() async throws {
        try await Pair.play(Self.open) { pair in
            _ = Self.fill(pair.socket)
            async let ready: Void = pair.ready()
            await pair.executor.stop()
            pair.socket.close()
            await ready
            while let bytes = pair.client.bytesNow(), !bytes.isEmpty {}
            #expect(pair.client.bytesNow() == [])
        }
    }

    @Test("a client can send neither bytes nor descriptors, and its end does not block and is not inherited")
    func oneWay() async throws {
        try await Pair.play(Self.open) { pair in
            let number = pair.client.number
            #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
            #expect(pair.client.bytesNow() == nil && errno == EAGAIN)
            for flags in [0, Int(MSG_OOB)] { #expect(pair.client.send([1], flags) < 0 && errno == EPIPE) }
            // Descriptors (SCM_RIGHTS) are sent with at least one byte.
            var byte: UInt8 = 1
            let sent = withUnsafeMutablePointer(to: &byte) { byte in
                var part = iovec(iov_base: byte, iov_len: 1)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    (message.msg_iov, message.msg_iovlen) = (part, 1)
                    return sendmsg(number, &message, CInt(MSG_NOSIGNAL))
                }
            }
            #expect(sent < 0 && errno == EPIPE)
            #expect(Self.write("abc", to: pair.socket) == 3)
        }
    }

    @Test(
        "a socket counts until the client has read everything, or has closed its end, or the agent ends",
        arguments: ["read", "close", "stop"])
    func unread(end way: String) async throws {
        let executor = try SocketExecutor()
        let (closings, closed) = (Counter(), OneShot<Void>())
        let (socket, end) = try Self.open(executor) {
            closings.add()
            closed.send(())
        }
        let client = PassedSocket(end.number)
        let count = Self.fill(socket)
        socket.close()
        // The first one closes the socket, the second one follows after the descriptors that were ready then.
        for _ in 1...2 { await withCheckedContinuation { turn in executor.perform { turn.resume() } } }
        #expect(closings.count == 0)
        switch way {
        case "read":
            var left = count
            while let bytes = client.bytesNow(), !bytes.isEmpty { left -= bytes.count }
            #expect(left == 0 && client.bytesNow() == [])
            _ = await closed.value()
            client.close()
            await executor.stop()
        case "close":
            client.close()
            _ = await closed.value()
            await executor.stop()
        default:
            await executor.stop()
            client.close()
        }
        #expect(closings.count == 1)
    }

    private final class Counter: Sendable {
        private let total = Mutex(0)

        var count: Int { total.withLock { $0 } }

        func add() { total.withLock { $0 += 1 } }
    }

    @Test("the end of a socket is reported once, when its descriptor has been closed")
    func counted() async throws {
        #expect(try await Pair.reportedEnds(Self.open) == [1, 1])
    }
}
