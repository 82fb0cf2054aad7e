import AuthCore
import AuthWire
import Logging
import NIOCore

/// Everyone who is connected. It lives on the loop and is touched nowhere else.
package final class Reception {
    let dispatcher: Dispatcher
    let limits: ConnectionLimits
    let counters: AgentCounters
    let clock: any SystemClock
    let logger: Logger
    private let policy: CurrentPeerPolicy
    private let outlet: EventOutlet
    private let board: StateBoard
    private let pages: IdlePages
    private let newCrews: AsyncStream<Crew>.Continuation
    private var connections: [ObjectIdentifier: Connection] = [:]
    private var perProcess: [Int32: Int] = [:]
    private var lingering = 0
    /// Bytes that wait for clients that do not take them.
    private var unsent = 0
    private var whenEmpty: [EventLoopPromise<Void>] = []
    private(set) var isStopping = false

    init(
        dispatcher: Dispatcher, board: StateBoard, policy: CurrentPeerPolicy, outlet: EventOutlet,
        limits: ConnectionLimits, counters: AgentCounters, pages: IdlePages, clock: any SystemClock, logger: Logger,
        newCrews: AsyncStream<Crew>.Continuation
    ) {
        self.dispatcher = dispatcher
        self.board = board
        self.policy = policy
        self.outlet = outlet
        self.limits = limits
        self.counters = counters
        self.clock = clock
        self.logger = logger
        self.pages = pages
        self.newCrews = newCrews
    }

    /// Takes a connection in.
    /// - Throws: why it is refused.
    func enter(_ connection: Connection) throws(AgentError) {
        let peer = connection.peer
        if let refusal = policy.now.refusal(of: peer) { throw refusal }
        if isStopping { throw .stopping }
        let open = perProcess[peer.processID, default: 0]
        guard open < limits.connectionsPerProcess else {
            throw AgentError(
                .busy,
                "Process \(peer.processID) has \(open) connections open, which is all that one may have: "
                    + "close some, or send several requests over one.")
        }
        perProcess[peer.processID] = open + 1
        connections[ObjectIdentifier(connection)] = connection
        counters.opened()
    }

    func leave(_ connection: Connection) {
        unfollow(connection)
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        counters.closed()
        pages.clientLeft()
        let open = perProcess[connection.peer.processID, default: 1]
        perProcess[connection.peer.processID] = open > 1 ? open - 1 : nil
        guard connections.isEmpty else { return }
        for promise in whenEmpty { promise.succeed() }
        whenEmpty = []
    }

    /// Whether one more connection may linger; each `true` is given back by ``lingerEnded()``.
    func mayLinger() -> Bool {
        guard lingering < limits.lingering else { return false }
        lingering += 1
        return true
    }

    func lingerEnded() { lingering -= 1 }

    /// Counts what waits for one client. `false` when all clients together leave too much lying.
    func mayKeep(_ bytes: Int, insteadOf former: Int) -> Bool {
        unsent += bytes - former
        return unsent <= limits.unsentInAll
    }

    func start(_ crew: Crew) { newCrews.yield(crew) }

    func follow(_ connection: Connection) { outlet.follow(connection) }

    func unfollow(_ connection: Connection) { outlet.unfollow(connection) }

    /// What memory has for the most usual of requests.
    func liveToken(_ session: SessionName?) -> LiveToken? {
        board.liveToken(session, minValid: nil, at: clock.now().boot)
    }

    func snapshot(for session: SessionName?) -> AgentEvent {
        let statuses = board.statuses().filter { session == nil || $0.session == session }
        return AgentEvent(
            snapshot: statuses, network: board.network, store: board.store, at: clock.now().wall.unixSeconds)
    }

    // MARK: The end

    /// No new request is taken; each connection ends when it has its answers. `empty` succeeds after the last.
    func stop(empty: EventLoopPromise<Void>) {
        isStopping = true
        if connections.isEmpty { return empty.succeed() }
        whenEmpty.append(empty)
        for connection in Array(connections.values) { connection.finish() }
    }

    /// Ends every connection, with its answers or without.
    func closeAll() {
        for connection in Array(connections.values) { connection.close() }
    }
}
