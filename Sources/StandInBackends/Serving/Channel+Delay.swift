import NIOCore

extension Channel {
    /// - Throws: `CancellationError` if the connection ends or the task is cancelled.
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
