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
            // The log has the problems. No client waits for them.
            _ = try? await reloader.reload()
        }
    }
}
