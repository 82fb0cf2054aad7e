import AuthModel
import AuthWire
import ServiceLifecycle
import UnixSignals

/// SIGHUP reloads settings and profiles.
package struct ReloadSignal: Service {
    private let reloader: Reloader
    private let audit: AuditLog

    package init(reloader: Reloader, audit: AuditLog) {
        self.reloader = reloader
        self.audit = audit
    }

    package func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            var refusal: ErrorKind?
            do throws(AgentError) {
                _ = try await reloader.reload()
            } catch {
                // The log has the problems. No client waits for them.
                refusal = error.kind ?? .internal_
            }
            audit.record(
                AuditedRequest(method: AgentReload.name), by: nil, rule: AuditEntry.signalRule, error: refusal)
        }
    }
}
