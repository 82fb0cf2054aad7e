import AuthConcurrency
import AuthGateway
import Synchronization

/// Writes messages to standard error on a separate thread: a program that does not read them must not stop the bridge.
final class NoteWriter: Sendable {
    private let unwritten = Mutex(0)
    private let thread = BlockingThread()

    /// Does not wait. What does not fit is dropped.
    func write(_ text: String) {
        let fits = unwritten.withLock { count in
            guard count < BridgeLimits.unwrittenNotes else { return false }
            count += 1
            return true
        }
        guard fits else { return }
        thread.submit { [self] in
            Note.write(text)
            unwritten.withLock { $0 -= 1 }
        }
    }

    /// Returns when everything is written, or at the limit.
    func flush(within limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [thread] in _ = await thread.run {} }
            group.addTask { try? await Task.sleep(for: limit, clock: .continuous) }
            await group.next()
            group.cancelAll()
        }
    }
}
