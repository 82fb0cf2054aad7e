import AuthWire
import Logging
import Synchronization
import Testing

@testable import AuthDaemon

@Suite("The state in the log")
struct StateLogTests {
    private static let ready = StoreInfo(kind: .secretService, state: .ready)

    private static func status(
        _ state: SessionState, session: String = "shop", cause: String? = nil, expiresAt: Double? = nil,
        storeError: String? = nil
    ) throws -> SessionStatus {
        SessionStatus(
            session: try SessionName(session), provider: "example", state: state, cause: cause, expiresAt: expiresAt,
            storeError: storeError)
    }

    @Test("each state of a session is one line, however often it is reported")
    func sessions() throws {
        let lines = Lines()
        var log = StateLog(logger: lines.logger)
        func record(_ statuses: SessionStatus...) { log.record(statuses, store: Self.ready, network: .online) }
        for expiry in 1...5 { record(try Self.status(.active, expiresAt: Double(expiry))) }
        #expect(lines.taken() == ["info: Session is active. cause=- session=shop"])
        record(try Self.status(.stale, cause: "offline"), try Self.status(.active, session: "wall"))
        record(try Self.status(.stale, cause: "offline"), try Self.status(.active, session: "wall"))
        #expect(
            lines.taken() == [
                "info: Session is stale. cause=offline session=shop", "info: Session is active. cause=- session=wall",
            ])
        record(try Self.status(.active), try Self.status(.active, session: "wall"))
        #expect(lines.taken() == ["info: Session is active. cause=- session=shop"])
        for _ in 1...3 { record(try Self.status(.active)) }
        #expect(lines.taken() == ["info: Session is gone. session=wall"])
    }

    @Test("each store error of a session is one line, and another one if it returns")
    func unsaved() throws {
        let lines = Lines()
        var log = StateLog(logger: lines.logger)
        func record(_ error: String?) throws {
            log.record([try Self.status(.active, storeError: error)], store: Self.ready, network: .online)
        }
        try record(nil)
        _ = lines.taken()
        let line = "warning: The newest tokens are in memory only: the disk is full session=shop"
        for _ in 1...4 { try record("the disk is full") }
        #expect(lines.taken() == [line])
        for _ in 1...2 { try record(nil) }
        #expect(lines.taken() == [])
        try record("the disk is full")
        #expect(lines.taken() == [line])
    }

    @Test("each state of store and network is one line; that the store opens at the start is not logged")
    func storeAndNetwork() {
        let lines = Lines()
        var log = StateLog(logger: lines.logger)
        func record(_ state: StoreState, _ message: String? = nil, _ network: NetworkState = .online) {
            for _ in 1...3 {
                log.record(
                    [], store: StoreInfo(kind: .secretService, state: state, message: message), network: network)
            }
        }
        record(.starting)
        record(.ready)
        #expect(lines.taken() == [])
        record(.locked)
        #expect(lines.taken() == ["warning: The store is locked: its sessions are served once it is open."])
        record(.locked, "The keyring is asking.")
        #expect(lines.taken() == ["warning: The store is locked: The keyring is asking."])
        record(.failed, "The store failed: no memory.")
        #expect(lines.taken() == ["warning: The store failed: no memory."])
        record(.failed)
        #expect(lines.taken() == ["warning: The store failed: its sessions are served once it is open."])
        record(.ready)
        #expect(lines.taken() == ["info: The store is open again."])
        record(.ready, "One item cannot be read.")
        #expect(lines.taken() == ["warning: One item cannot be read."])
        record(.ready, "One item cannot be read.", .offline)
        #expect(lines.taken() == ["info: The network is offline."])
        record(.ready, "One item cannot be read.", .online)
        #expect(lines.taken() == ["info: The network is online."])
    }
}

/// The lines of a logger.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    /// Those since the last call.
    func taken() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        init(lines: Lines) { self.lines = lines }

        func log(event: LogEvent) {
            // As on stderr: the catalog's ID is for the journal.
            let shown = (event.metadata ?? [:]).filter { $0.key != CatalogMessage.key }
            let fields = shown.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            lines.lines.withLock { $0.append("\(event.level): \(event.message)" + fields.joined()) }
        }
    }
}
