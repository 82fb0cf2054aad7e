import ServiceLifecycle
import UnixSignals

/// SIGHUP reloads settings and profiles.
package struct ReloadSignal: Service {
    private let reloader: Reloader

    package init(reloader: Reloader) {
        self.reloader = reloader
    }

    package func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            // What was wrong is in the log; there is nobody else to tell.
            _ = try? await reloader.reload()
        }
    }
}
