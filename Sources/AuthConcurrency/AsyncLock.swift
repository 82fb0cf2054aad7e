/// Lets one task at a time do its work, in no particular order.
package final class AsyncLock: Sendable {
    private let isTaken = StateBroadcast(false)

    package init() {}

    /// - Returns: `nil`: the task was cancelled while it waited, and nothing was done.
    package func withLock<Value, Failure>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        while !acquire() {
            guard await isTaken.wait(until: { !$0 }) else { return nil }
        }
        defer { isTaken.set(false) }
        return try await work()
    }

    private func acquire() -> Bool {
        isTaken.update { isTaken in
            defer { isTaken = true }
            return isTaken == false
        }
    }
}
