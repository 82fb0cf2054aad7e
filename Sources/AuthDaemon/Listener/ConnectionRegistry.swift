import AuthAgent
import AuthConcurrency
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire
import Glibc
import Logging
import NIOCore

/// The connected clients and what they share. It belongs to the ``Listener``: only the sockets' thread uses it and its
/// connections.
final class ConnectionRegistry {
    let dispatcher: Dispatcher
    let limits: ConnectionLimits
    let counters: AgentCounters
    let clock: any SystemClock
    let logger: Logger
    let closings: ClosingLog
    let policy: CurrentPeerPolicy
    let board: StateBoard
    private let newTasks: AsyncStream<ConnectionTasks>.Continuation
    let confinement: Confinement
    let changes: AccessChanges
    let processes: PeerProcesses
    private var acceptSources: [ListenerName: AcceptSource] = [:]
    private var lastNumber = 0
    private(set) var connections: [Int: Connection] = [:]
    /// Those whose tasks have not ended; they may be closed.
    private(set) var working: [Int: any RequestOwner] = [:]
    /// `nil` if the settings or the environment have none.
    var bus: BusService?
    /// Connections with subscriptions.
    private(set) var followers: [Int: Connection] = [:]
    private var perProcess: [Int32: Int] = [:]
    private var perUser: [UInt32: Int] = [:]
    private var unitConnections: UnitConnections
    private var confined = 0
    private var lingering = 0
    private var unsent: BufferedBytes
    private var unread: BufferedBytes
    /// The bytes of confined clients, which must not use up the memory of the others.
    private var confinedUnsent: BufferedBytes
    private var confinedUnread: BufferedBytes
    var requestBudget: RequestBudget
    let bodySockets: BodySocketBudget
    /// Those with lines that are processed in later turns.
    private var deferred = FairQueue<Connection>()
    private var willProcessDeferred = false
    /// Not the ID of a process.
    private static let longBatchTurns: Int32 = -1
    private var longLines = FairQueue<Connection>()
    /// A line of this connection is being parsed.
    private var parsing: Connection?
    /// The connection with a batch from a long line. The next long line is parsed when all requests of the batch have begun,
    /// so that at most one such line is in memory with values that no limit counts.
    var longBatch: Connection?
    var statusTexts = StatusTexts()
    /// For the responses of the next connection that writes; it has no capacity while a connection uses it.
    var spareOutput = ByteBuffer()
    let executor: SocketExecutor
    private let newLines: AsyncStream<LongLine>.Continuation
    private var whenEmpty: [() -> Void] = []
    /// Set while it runs.
    var listener: Listener?
    private(set) var isStopping = false

    init(
        dispatcher: Dispatcher, board: StateBoard, policy: CurrentPeerPolicy, tables: StateBroadcast<ListenerTables>,
        changes: AccessChanges, limits: ConnectionLimits, counters: AgentCounters, clock: any SystemClock,
        logger: Logger, executor: SocketExecutor, hasPeerDescriptors: Bool,
        newTasks: AsyncStream<ConnectionTasks>.Continuation, newLines: AsyncStream<LongLine>.Continuation
    ) {
        self.dispatcher = dispatcher
        self.board = board
        self.policy = policy
        confinement = Confinement(
            tables: tables, board: board, credentialHeaders: { dispatcher.credentialHeaders(of: $0) })
        self.changes = changes
        processes = PeerProcesses(
            executor: executor, limit: limits.watchedProcesses, hasPeerDescriptors: hasPeerDescriptors)
        self.limits = limits
        self.counters = counters
        self.clock = clock
        self.logger = logger
        closings = ClosingLog(executor: executor, logger: logger)
        self.executor = executor
        self.newTasks = newTasks
        self.newLines = newLines
        unitConnections = UnitConnections(limit: limits.countedConnectionsPerUnit)
        requestBudget = RequestBudget(limits)
        bodySockets = BodySocketBudget(limits, counters: counters)
        unsent = BufferedBytes(limits.unsent)
        unread = BufferedBytes(limits.lines)
        confinedUnsent = BufferedBytes(limits.confinedBytes)
        confinedUnread = BufferedBytes(limits.confinedBytes)
    }

    // MARK: Clients

    /// Serves the clients of this listening socket.
    func listen(at descriptor: CInt, as name: ListenerName) throws(SystemFailure) {
        stopListening(as: name)
        acceptSources[name] = try AcceptSource(descriptor, on: executor, logger: logger) { [weak self] client in
            // The listening socket may have been closed since. A client of an agent that is stopping gets an error.
            if let self, isStopping || acceptSources[name] != nil {
                accept(client, from: name)
            } else {
                Glibc.close(client)
            }
        }
    }

    /// The same for a socket for limited access: if it fails, the others are served anyway.
    func listenIfPossible(at descriptor: CInt, as name: ListenerName) {
        do throws(SystemFailure) {
            try listen(at: descriptor, as: name)
        } catch {
            logger.error("The socket '\(name.rawValue)' is not served: \(error)")
        }
    }

    /// Accepts no clients any more.
    func stopListening() {
        for name in Array(acceptSources.keys) { stopListening(as: name) }
    }

    private func stopListening(as name: ListenerName) { acceptSources.removeValue(forKey: name)?.close() }

    /// Accepts no clients at this socket any more, and ends those that it has.
    func stopServing(_ name: ListenerName) {
        stopListening(as: name)
        for connection in Array(connections.values) where connection.caller.listener == name { connection.close() }
    }

    private func accept(_ descriptor: CInt, from name: ListenerName) {
        // A peer whose uid is unknown is refused.
        let peer = PeerCredentials(descriptor: descriptor) ?? PeerCredentials(processID: 0, userID: .max)
        let socket = ClientSocket(
            descriptor, of: peer.processID, on: executor, marks: limits.pauseAbove / 4...limits.pauseAbove)
        let caller = caller(peer, at: descriptor, from: name)
        let connection = Connection(caller, socket: socket, registry: self)
        do throws(SystemFailure) {
            try socket.open(for: connection)
            connection.begin()
        } catch {
            if let process = caller.process { processes.connectionEnded(of: process) }
            logger.error("Refused a client: \(error)", metadata: ["peer_pid": "\(peer.processID)"])
        }
    }

    private func caller(_ peer: PeerCredentials, at descriptor: CInt, from name: ListenerName) -> Caller {
        func confined(_ client: ConfinedClient) -> Caller {
            var confinement = confinement
            confinement.client = client
            // One that is refused makes no request.
            let reference = client == .refused ? .socket : processes.reference(to: peer.processID, at: descriptor)
            return Caller(
                peer, from: name, process: nil, reference: reference, confinement: confinement, changes: changes)
        }
        guard !name.isLimited else { return confined(.socket(name)) }
        do throws(AgentError) {
            try admit(peer)
        } catch {
            // It is refused when it begins.
            return confined(.refused)
        }
        do throws(ConfinedClient) {
            let process = try processes.process(of: peer, at: descriptor)
            return Caller(peer, from: name, process: process, confinement: nil, changes: changes)
        } catch {
            logger.debug("\(error.text): its access is limited.", metadata: ["peer_pid": "\(peer.processID)"])
            return confined(error)
        }
    }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Registers a connection.
    /// - Throws: why it is refused.
    func enter(_ connection: Connection) throws(AgentError) {
        let peer = connection.peer
        try admit(peer)
        if connection.confinement != nil {
            guard confined < limits.confinedConnections else { throw .tooManyConfined(confined) }
            confined += 1
            connection.socket.waitsForClient = true
        } else if perUser[peer.userID, default: 0] >= limits.connectionsBeforeUnits {
            let group = UnitConnections.Group(connection.caller.identity)
            try unitConnections.add(connection.number, of: group)
        }
        perProcess[peer.processID, default: 0] += 1
        perUser[peer.userID, default: 0] += 1
        connections[connection.number] = connection
        counters.opened()
    }

    /// - Throws: why another connection of it is refused.
    private func admit(_ peer: PeerCredentials) throws(AgentError) {
        if let refusal = policy.now.refusal(of: peer) { throw refusal }
        if isStopping { throw .stopping }
        let open = perProcess[peer.processID, default: 0]
        guard open < limits.connectionsPerProcess else {
            throw .tooManyConnections(open, ofProcess: peer.processID)
        }
        let ofUser = perUser[peer.userID, default: 0]
        guard ofUser < limits.connectionsPerUser else { throw .tooManyConnections(ofUser, ofUser: peer.userID) }
        guard connections.count < limits.connectionsInAll else { throw .tooManyConnections(inAll: connections.count) }
    }

    func leave(_ connection: Connection) {
        unfollow(connection)
        connection.caller.repeated.end(in: dispatcher.audit)
        if let process = connection.process {
            process.remove(connection)
            processes.connectionEnded(of: process)
        }
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        counters.closed()
        unitConnections.remove(connection.number)
        if connection.confinement != nil {
            connection.socket.whenReceived { [self] in
                confined -= 1
                uncount(connection.peer)
            }
        } else {
            uncount(connection.peer)
        }
        endIfEmpty()
    }

    private func uncount(_ peer: PeerCredentials) {
        let open = perProcess[peer.processID, default: 1]
        perProcess[peer.processID] = open > 1 ? open - 1 : nil
        let ofUser = perUser[peer.userID, default: 1]
        perUser[peer.userID] = ofUser > 1 ? ofUser - 1 : nil
    }

    /// Whether one more connection may linger. Each `true` is balanced by ``lingerEnded()``.
    func canLinger() -> Bool {
        guard lingering < limits.lingering else { return false }
        lingering += 1
        return true
    }

    func lingerEnded() { lingering -= 1 }

    // MARK: Buffered bytes

    /// Counts responses that a connection has not sent. Above the limit, the worst connections are closed, this one or others.
    func unsentChanged(of connection: Connection, by difference: Int) {
        counters.unsentChanged(by: difference)
        let bytes = connection.isConfined ? \ConnectionRegistry.confinedUnsent : \ConnectionRegistry.unsent
        self[keyPath: bytes].change(by: difference, of: connection.peer.userID)
        guard difference > 0, let excess = self[keyPath: bytes].excess(of: connection.peer.userID) else { return }
        for offender in worst(excess, \.unsent, confined: connection.isConfined) { offender.endUnread() }
    }

    /// The same for lines that are incomplete or not parsed yet.
    func unreadChanged(of connection: Connection, by difference: Int) {
        counters.unreadChanged(by: difference)
        let bytes = connection.isConfined ? \ConnectionRegistry.confinedUnread : \ConnectionRegistry.unread
        self[keyPath: bytes].change(by: difference, of: connection.peer.userID)
        guard difference > 0, let excess = self[keyPath: bytes].excess(of: connection.peer.userID) else { return }
        for offender in worst(excess, \.unread, confined: connection.isConfined) { offender.endIncomplete() }
    }

    private func worst(
        _ excess: BufferedBytes.Excess, _ held: KeyPath<Connection, BufferedSince>, confined: Bool
    ) -> [Connection] {
        let now = executor.now
        let holders = connections.values.filter { connection in
            connection[keyPath: held].bytes > 0 && connection.isConfined == confined
                && excess.user ?? connection.peer.userID == connection.peer.userID
        }
        let found = BufferedBytes.worst(
            of: holders.map { connection in
                let held = connection[keyPath: held]
                return BufferedBytes.Holder(
                    process: connection.peer.processID, bytes: held.bytes, age: held.age(at: now))
            }, toFree: excess.bytes)
        return found.map { holders[$0] }
    }

    // MARK: Long lines

    /// Parses the waiting line of a connection off the loop, in turn with others.
    func parse(_ connection: Connection) {
        longLines.add(connection, of: connection.peer.processID)
        parseNext()
    }

    private func parseNext() {
        guard parsing == nil, longBatch == nil else { return }
        while let connection = longLines.next() {
            guard let parts = connection.nextLongLine() else { continue }
            parsing = connection
            newLines.yield(LongLine(parts: parts, values: limits.lineValues))
            return
        }
    }

    /// Lets the connection process its next lines after everything that is ready now. The long batch has turns like a
    /// process: the long lines of other processes wait for it, and must not wait for the other connections of its
    /// process.
    func processLater(_ connection: Connection) {
        deferred.add(connection, of: connection === longBatch ? Self.longBatchTurns : connection.peer.processID)
        processDeferredNext()
    }

    private func processDeferredNext() {
        guard !willProcessDeferred else { return }
        willProcessDeferred = true
        executor.performNext { [self] in processDeferred() }
    }

    /// As many as one turn's time allows, and at most as many as wait.
    private func processDeferred() {
        willProcessDeferred = false
        let end = executor.now + limits.turnTime
        for _ in 0..<deferred.count {
            deferred.next()?.continueDeferred()
            if executor.now >= end { break }
        }
        if deferred.count > 0 { processDeferredNext() }
    }

    func parsed(_ result: Result<JSON, JSONError>, _ requestBytes: [Int]) {
        let connection = parsing
        parsing = nil
        connection?.parsed(result, requestBytes)
        parseNext()
    }

    /// All requests of ``longBatch`` have begun.
    func longBatchEnded() {
        longBatch = nil
        parseNext()
    }

    // MARK: Work

    /// The same work with its deadline from now on, begun when the store has been read once.
    func afterStart(_ work: @escaping RequestTask.Work, within limit: Duration) -> RequestTask.BoundedWork {
        let end = clock.now().boot + limit
        guard board.store.state == .starting else { return { () async throws(AgentError) in try await work(end) } }
        return { [board] () async throws(AgentError) in
            for await _ in board.changes() where board.store.state != .starting { break }
            return try await work(end)
        }
    }

    func start(_ tasks: ConnectionTasks, of owner: any RequestOwner) {
        working[owner.number] = owner
        newTasks.yield(tasks)
    }

    func answered(_ ticket: Int, of number: Int, _ result: Result<Payload, AgentError>) {
        working[number]?.answered(ticket, result)
    }

    func ended(_ ticket: Int, of number: Int) { working[number]?.ended(ticket) }

    func tasksEnded(of number: Int) { working[number] = nil }

    // MARK: Events

    func follow(_ connection: Connection) { followers[connection.number] = connection }

    func unfollow(_ connection: Connection) { followers[connection.number] = nil }

    // MARK: Stopping

    /// Accepts no new requests; each connection closes after its responses. `whenEmpty` is called after the last one, and when
    /// no request on the session bus is in progress.
    func stop(whenEmpty: @escaping () -> Void) {
        isStopping = true
        self.whenEmpty.append(whenEmpty)
        for connection in Array(connections.values) { connection.finish() }
        endIfEmpty()
    }

    /// To be called after the end of a connection, or of a request on the session bus.
    func endIfEmpty() {
        guard connections.isEmpty, bus?.isIdle ?? true else { return }
        for call in whenEmpty { call() }
        whenEmpty = []
    }

    /// Closes every connection at once.
    func closeAll() {
        for connection in Array(connections.values) { connection.close() }
        bus?.turn(on: false)
        working = [:]
        closings.finish()
    }
}
