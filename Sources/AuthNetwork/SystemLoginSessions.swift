import AuthModel
package import GLibRuntime

/// The user's login sessions, as logind reports them. logind is used only while a stream is in use.
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

    /// @unchecked Sendable: `watch` is used on the GLib thread only.
    private final class Holder: @unchecked Sendable {
        var watch: LogindSessions?
    }
}
