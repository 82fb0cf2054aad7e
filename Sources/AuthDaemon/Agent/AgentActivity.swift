package import AuthAgent
import AuthWire

/// What the agent is doing, as far as a restart would interrupt it. Connections and subscriptions are not part of it: clients
/// connect and subscribe again.
package struct AgentActivity: Sendable {
    private let counters: AgentCounters
    private let board: StateBoard
    private let pool: TaskPool
    private let signIns: SignInService
    private let needsPassphrase: Bool

    /// - Parameter needsPassphrase: whether sealed files are opened with a passphrase.
    package init(counters: AgentCounters, context: AgentContext, signIns: SignInService, needsPassphrase: Bool) {
        self.counters = counters
        self.board = context.board
        self.pool = context.tasks.pool
        self.signIns = signIns
        self.needsPassphrase = needsPassphrase
    }

    /// The sessions would end with this process.
    package var isInMemoryOnly: Bool { board.store.kind == .memory && board.sessionCount > 0 }

    /// The first one.
    package var obstacle: RestartObstacle? {
        if isInMemoryOnly { return .memory }
        let store = board.store
        if store.kind.isSealed, needsPassphrase { return .passphrase }
        if store.state != .ready { return .storeNotOpen }
        if counters.waiting > 0 || counters.unsentBytes > 0 || counters.unreadBytes > 0 { return .requests }
        if signIns.hasSignIns { return .signIn }
        if board.statuses().contains(where: \.unsaved) { return .unsavedTokens }
        return pool.isIdle ? nil : .work
    }
}
