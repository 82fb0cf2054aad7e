internal import AuthConcurrency
internal import AuthModel
internal import AuthWire

/// Closed at first. Once it is open it stays open, and every wait ends.
final class Latch: Sendable {
    /// `nil`: closed; `false`: it will not be opened any more.
    private let isOpen = StateBroadcast<Bool>(nil)

    /// Whether ``wait()`` would return at once.
    var hasOpened: Bool { isOpen.current == true }

    func open() { isOpen.update { $0 = $0 ?? true } }

    /// Every wait, present and future, fails with `stopping`, unless the latch is open.
    func stop() { isOpen.update { $0 = $0 ?? false } }

    /// Returns when it is open.
    /// - Throws: `stopping` after ``stop()``; ``AuthWire/AgentError/callerGone`` if the task is cancelled.
    func wait() async throws(AgentError) {
        guard await isOpen.wait(until: { _ in true }) else { throw .callerGone }
        if isOpen.current == false { throw .stopping }
    }
}
