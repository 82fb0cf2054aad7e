import AuthWire
import Logging

/// Logs changes of each session's state, the store and the network.
struct StateLog {
    private let logger: Logger
    private var sessions: [SessionName: SessionState] = [:]
    /// The errors of sessions whose newest tokens are only in memory.
    private var storeErrors: [SessionName: String] = [:]
    private var store: StoreInfo?
    private var network = NetworkState.online

    init(logger: Logger) {
        self.logger = logger
    }

    mutating func record(_ statuses: [SessionStatus], store: StoreInfo, network: NetworkState) {
        record(statuses)
        record(store)
        if network != self.network { logger.info("The network is \(network.rawValue).") }
        self.network = network
    }

    private mutating func record(_ statuses: [SessionStatus]) {
        for status in statuses where sessions[status.session] != status.state {
            let metadata: Logger.Metadata = ["session": "\(status.session)", "cause": "\(status.cause ?? "-")"]
            let isLost = status.state == .signInRequired
            logger.info(
                "Session is \(status.state.rawValue).",
                metadata: isLost ? CatalogMessage.signInRequired.metadata(metadata) : metadata)
        }
        let present = Dictionary(statuses.map { ($0.session, $0.state) }) { $1 }
        for session in sessions.keys where present[session] == nil {
            logger.info("Session is gone.", metadata: ["session": "\(session)"])
        }
        sessions = present
        recordUnsaved(statuses)
    }

    private mutating func recordUnsaved(_ statuses: [SessionStatus]) {
        let errors = Dictionary(
            statuses.compactMap { status in status.storeError.map { (status.session, $0) } }, uniquingKeysWith: { $1 })
        for (session, error) in errors.sorted(by: { $0.key < $1.key }) where storeErrors[session] != error {
            logger.warning(
                "The newest tokens are in memory only: \(error)",
                metadata: CatalogMessage.tokensInMemoryOnly.metadata(["session": "\(session)"]))
        }
        storeErrors = errors
    }

    private mutating func record(_ store: StoreInfo) {
        defer { self.store = store }
        guard (store.state, store.message) != (self.store?.state, self.store?.message), store.state != .starting else {
            return
        }
        switch (store.state, store.message) {
        case (.ready, let message?): logger.warning("\(message)")
        // That it is open is news only after it was not.
        case (.ready, nil):
            if let former = self.store, former.state != .starting { logger.info("The store is open again.") }
        case (let state, let message):
            let subject = state == .failed ? "The store failed" : "The store is \(state.rawValue)"
            let reason = message ?? "its sessions are served once it is open."
            logger.warning(
                "\(reason.hasPrefix(subject) ? reason : "\(subject): \(reason)")",
                metadata: CatalogMessage.storeUnavailable.metadata())
        }
    }
}
