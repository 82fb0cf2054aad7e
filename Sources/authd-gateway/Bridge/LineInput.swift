import AuthAgent
import AuthConcurrency
import AuthGateway
import Glibc
import Synchronization

/// Reads lines from standard input, on a separate thread.
final class LineInput: Sendable {
    /// For one read(2): a pipe's usual size.
    private static let readBytes = 64 << 10

    private struct State {
        var isPaused = false
        var waiting: OneShot<Void>?
    }

    private let state = Mutex(State())
    private let thread = BlockingThread()

    /// Reads nothing more until ``resume()``.
    func pause() {
        state.withLock { $0.isPaused = true }
    }

    func resume() {
        let waiting = state.withLock { state in
            state.isPaused = false
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.send(())
    }

    /// Sends each line to the machine, until the input ends.
    func read(into runner: Runner<BridgeMachine>, writing output: LineWriter) async {
        var lines = BridgeLines()
        while let bytes = await thread.run({ Self.readSome() }) {
            for line in bytes.isEmpty ? lines.finish() : lines.append(bytes) {
                await runner.send(.line(line))
                await waitWhilePaused()
                await output.room()
            }
            if bytes.isEmpty {
                await runner.send(.inputEnded)
                return
            }
        }
    }

    private func waitWhilePaused() async {
        let wait = state.withLock { state -> OneShot<Void>? in
            guard state.isPaused else { return nil }
            let wait = OneShot<Void>()
            state.waiting = wait
            return wait
        }
        _ = await wait?.value()
    }

    /// Empty at the end, and after an error.
    private static func readSome() -> [UInt8] {
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: readBytes) { buffer, used in
                count = unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                used = max(0, count)
            }
            guard count < 0 else { return bytes }
            if errno == EINTR { continue }
            guard errno == EAGAIN else { return [] }
            var wait = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
            _ = unsafe poll(&wait, 1, -1)
        }
    }
}
