import AuthConcurrency
import Synchronization

@testable import AuthDaemon

/// A socket for a body or a response, the client's end of it, and the executor that watches it.
struct BodySocketPair<Socket: WatchedSocket>: Sendable {
    /// Bytes that the kernel holds for the reader.
    static var room: Int { 16 << 10 }

    let executor: SocketExecutor
    let socket: Socket
    let client: PassedSocket

    typealias Opening =
        @Sendable (SocketExecutor, @escaping @Sendable () -> Void) throws -> (
            socket: Socket, end: WatchedSocket.ClientEnd
        )

    /// Then closes both ends and ends the executor.
    static func play(
        _ open: Opening, _ body: (BodySocketPair) async throws -> Void
    ) async throws {
        let executor = try SocketExecutor()
        let (socket, end) = try open(executor) {}
        let pair = BodySocketPair(executor: executor, socket: socket, client: PassedSocket(end.number))
        do {
            try await body(pair)
        } catch {
            await pair.end()
            throw error
        }
        await pair.end()
    }

    private func end() async {
        client.close()
        socket.close()
        await executor.stop()
    }

    /// Returns when the socket is ready.
    func ready() async {
        let ready = OneShot<Void>()
        socket.whenReady { ready.send(()) }
        _ = await ready.value()
    }

    /// - Returns: how often the end of a socket was reported, for one that was closed twice and one that was not closed.
    static func reportedEnds(_ open: Opening) async throws -> [Int] {
        var reported: [Int] = []
        for isClosed in [true, false] {
            let executor = try SocketExecutor()
            let closings = Mutex(0)
            do {
                let (socket, end) = try open(executor) { closings.withLock { $0 += 1 } }
                if isClosed {
                    socket.close()
                    socket.close()
                }
                end.close()
            }
            await executor.stop()
            reported.append(closings.withLock { $0 })
        }
        return reported
    }
}
