import NIOCore

extension Channel {
    /// Returns after that time.
    /// - Throws: `CancellationError` as soon as the connection has ended, or the task is cancelled.
    func delay(for time: Duration) async throws {
        let sleeping = Task { try await Task.sleep(for: time) }
        closeFuture.whenComplete { _ in sleeping.cancel() }
        try await withTaskCancellationHandler {
            try await sleeping.value
        } onCancel: {
            sleeping.cancel()
        }
    }
}
