import AuthSockets
import Dispatch
import Glibc
import Logging
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("Accepting clients", .timeLimit(.minutes(1)))
struct AcceptSourceTests {
    /// Only the executor's thread uses it.
    private final class Source: @unchecked Sendable {
        var source: AcceptSource?
        var begun = 0
        var mostWaiting = 0
    }

    @Test("few clients are accepted before they begin, however slowly that goes")
    func slowBeginnings() async throws {
        let folder = try TemporaryFolder()
        let socket = try SocketFile.bind(path: folder.path + "/socket")
        let executor = try SocketExecutor()
        let (state, count) = (Source(), 100)
        try await onThread {
            // All are there before the first is accepted.
            let clients = try (0..<count).map { _ in try RawClient(socket.path) }
            let isDone = DispatchSemaphore(value: 0)
            executor.perform {
                state.source = try? AcceptSource(
                    socket.descriptor, on: executor, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                ) { client in
                    // Longer than a turn.
                    let end = ContinuousClock.now + .microseconds(30)
                    while ContinuousClock.now < end {}
                    close(client)
                    state.begun += 1
                    state.mostWaiting = max(state.mostWaiting, state.source?.waiting ?? .max)
                    if state.begun == count { isDone.signal() }
                }
            }
            #expect(isDone.wait(timeout: .now() + 20) == .success)
            // Otherwise the source and its closure would keep each other.
            executor.perform { state.source = nil }
            withExtendedLifetime(clients) {}
        }
        await executor.stop()
        #expect(state.begun == count)
        #expect((1..<AcceptSource.maxAtOnce).contains(state.mostWaiting))
    }
}
