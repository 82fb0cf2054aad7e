package import AuthAgent
package import AuthWire

/// What the agent is doing, as far as a restart would interrupt it. Connections and subscriptions are not part of it: clients
/// connect and subscribe again.
package struct AgentActivity: Sendable {
    private let counters: AgentCounters
    private let board: StateBoard
    private let pool: TaskPool
    private let signIns: SignInService
    private let needsPassphrase: Bool
    private let handsOver: @Sendable (SessionName) -> Bool

    /// - Parameters:
    ///   - needsPassphrase: whether sealed files are opened with a passphrase.
    ///   - handsOver: whether the next run gets the newest tokens of a session without the store.
    package init(
        counters: AgentCounters, context: AgentContext, signIns: SignInService, needsPassphrase: Bool,
        handsOver: @escaping @Sendable (SessionName) -> Bool
    ) {
        self.counters = counters
        self.board = context.board
        self.pool = context.tasks.pool
        self.signIns = signIns
        self.needsPassphrase = needsPassphrase
        self.handsOver = handsOver
    }

    /// The sessions would end with this process.
    package var isInMemoryOnly: Bool { board.store.kind == .memory && board.sessionCount > 0 }

    /// Why `agent.restart` is refused: tokens would be lost.
    /// - Parameter names: the sessions that the message may name.
    package func refusal(naming names: SessionNames) -> AgentError? {
        if isInMemoryOnly { return .sessionsInMemory }
        let lost = board.statuses().filter { $0.unsaved && !handsOver($0.session) }
        return lost.isEmpty ? nil : .tokensNotStored(names.list(lost.map(\.session)))
    }

    /// An obstacle that does not pass, however long the agent is idle.
    package var lastingObstacle: RestartObstacle? {
        if isInMemoryOnly { return .memory }
        return board.store.kind.isSealed && needsPassphrase ? .passphrase : nil
    }

    /// The first one.
    package var obstacle: RestartObstacle? {
        if let lastingObstacle { return lastingObstacle }
        if board.store.state != .ready { return .storeNotOpen }
        if counters.waiting > 0 || counters.unsentBytes > 0 || counters.unreadBytes > 0 { return .requests }
        if signIns.hasSignIns { return .signIn }
        if board.statuses().contains(where: \.unsaved) { return .unsavedTokens }
        return pool.isIdle ? nil : .work
    }
}
