import AuthConcurrency
import AuthGateway
import Glibc
import Synchronization

/// Writes lines to standard output, in order, on a separate thread.
final class LineWriter: Sendable {
    private struct State {
        var unwritten = 0
        var isClosed = false
        var waiting: [OneShot<Void>] = []
    }

    /// Sent if the output cannot be written any more.
    let closed = OneShot<Void>()
    private let state = Mutex(State())
    private let thread = BlockingThread()

    /// Does not wait.
    func write(_ line: [UInt8]) {
        let count = line.count + 1
        state.withLock { $0.unwritten += count }
        thread.submit { [self] in
            if !state.withLock({ $0.isClosed }), !Self.writeAll(line + [0x0A]) {
                state.withLock { $0.isClosed = true }
                closed.send(())
            }
            let waiting = state.withLock { state in
                state.unwritten -= count
                guard state.unwritten <= BridgeLimits.unwrittenBytes else { return [OneShot<Void>]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for wait in waiting { wait.send(()) }
        }
    }

    /// Returns when less is unwritten than the limit.
    func room() async {
        let wait = state.withLock { state -> OneShot<Void>? in
            guard state.unwritten > BridgeLimits.unwrittenBytes else { return nil }
            let wait = OneShot<Void>()
            state.waiting.append(wait)
            return wait
        }
        _ = await wait?.value()
    }

    /// Returns when everything is written, or at the limit: whether everything was written.
    @discardableResult
    func flush(within limit: Duration) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [thread] in _ = await thread.run {} }
            group.addTask { try? await Task.sleep(for: limit, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
        return state.withLock { $0.unwritten == 0 && !$0.isClosed }
    }

    private static func writeAll(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                let count = unsafe Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    guard errno == EAGAIN else { return false }
                    // Another process made the pipe non-blocking.
                    var wait = [pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)]
                    _ = unsafe poll(&wait, 1, -1)
                    continue
                }
                sent += count
            }
            return true
        }
    }
}
