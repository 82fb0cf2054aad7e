import Foundation
import Synchronization

/// What a pipe brings, kept whole and searched while it grows.
package final class Gathered: Sendable {
    private struct Waiter {
        let id: UUID
        let pattern: String?
        let times: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var bytes: [UInt8] = []
        var ended = false
        var waiting: [Waiter] = []
    }
    private let state = Mutex(State())

    /// Reads the descriptor to its end, and closes it.
    package init(_ descriptor: Int32) {
        Thread.detachNewThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                self?.append(Array(buffer[..<max(0, count)]))
                if count <= 0 { break }
            }
            close(descriptor)
        }
    }

    package var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Everything, once the pipe has ended.
    package func all() async -> String {
        await wait(for: nil)
        return text
    }

    /// Whether the text came, so many times, before the pipe ended or the test's time limit was reached.
    @discardableResult
    package func wait(for pattern: String?, times: Int = 1) async -> Bool {
        let id = UUID()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if let found = Self.answer(pattern, times, state) { return found }
                    // Inside the lock: a cancellation either comes before this or finds the waiter.
                    if Task.isCancelled { return false }
                    state.waiting.append(Waiter(id: id, pattern: pattern, times: times, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: index)
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    private func append(_ bytes: [UInt8]) {
        let answered = state.withLock { state in
            state.bytes += bytes
            if bytes.isEmpty { state.ended = true }
            var answered: [(CheckedContinuation<Bool, Never>, Bool)] = []
            var still = state.waiting
            still.removeAll { waiter in
                guard let answer = Self.answer(waiter.pattern, waiter.times, state) else { return false }
                answered.append((waiter.continuation, answer))
                return true
            }
            state.waiting = still
            return answered
        }
        for (continuation, answer) in answered { continuation.resume(returning: answer) }
    }

    private static func answer(_ pattern: String?, _ times: Int, _ state: State) -> Bool? {
        if let pattern {
            let parts = String(decoding: state.bytes, as: UTF8.self).split(
                separator: pattern, maxSplits: times, omittingEmptySubsequences: false)
            if parts.count > times { return true }
        }
        return state.ended ? pattern == nil : nil
    }
}
