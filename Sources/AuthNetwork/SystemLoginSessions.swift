import AuthModel
package import GLibRuntime

/// The user's login sessions, as logind reports them. logind is used only while a stream is in use, and when it is asked.
package struct SystemLoginSessions: LoginSessionWatch {
    private let thread: GLibThread
    private let systemBus: String?

    /// - Parameter systemBus: its address; `nil` if there is none.
    package init(on thread: GLibThread, systemBus: String?) {
        self.thread = thread
        self.systemBus = systemBus
    }

    package func areLocked() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        guard let systemBus else {
            continuation.finish()
            return stream
        }
        let holder = Holder()
        thread.perform { [thread] in
            holder.watch = LogindSessions(on: thread, address: systemBus) { continuation.yield($0) }
        }
        continuation.onTermination = { [thread] _ in thread.perform { holder.watch = nil } }
        return stream
    }

    /// Whether there is one now. `false` without logind.
    package func isOneOpen() async -> Bool {
        guard let systemBus else { return false }
        return await withCheckedContinuation { continuation in
            thread.perform { [thread] in
                LoginSessionQuery(thread: thread).begin(at: systemBus) { continuation.resume(returning: $0) }
            }
        }
    }

    /// @unchecked Sendable: `watch` is used on the GLib thread only.
    private final class Holder: @unchecked Sendable {
        var watch: LogindSessions?
    }
}
