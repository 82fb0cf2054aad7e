import AuthAgent
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire
import Logging
import NIOCore

/// One client: reads its lines, and sends responses as soon as they are ready.
///
/// Only the sockets' thread uses it. Invariants: at most `limits.requestsPerConnection` requests are in progress; no line is
/// read while more than `limits.pauseAbove` bytes of responses wait for the client, or while a line of it is parsed elsewhere;
/// after `phase` has left `.open` no line is read at all. Bytes that are buffered for the client are counted (``count()``)
/// before the thread does anything else.
final class Connection: ClientSocketDelegate, RequestOwner, PeerProcessUser {
    enum Phase {
        case open
        /// Requests in progress are answered, then the connection closes.
        case finishing
        /// It was refused, and has a moment to stop writing.
        case lingering
        case closed
    }

    /// Passed to the socket in one piece, so that a burst of requests causes one write.
    static let writeChunk = 64 << 10
    /// The share of a turn in bytes of lines: of any request in addition to its bytes, and of a plain one in total.
    static let (requestShare, plainShare) = (64, 8)

    /// Unique in the registry.
    let number: Int
    let caller: Caller
    /// It was made before the agent asked for senders, by a client that waited for the agent's start at a socket without
    /// PassCredentials= (systemd.socket(5)). What that client sent first has no sender.
    let mayLackSender: Bool
    private(set) var subscriptions: Subscriptions
    /// The last state sent, if the client is confined or rules may hide sessions from it.
    var sent = SentState()
    let socket: ClientSocket
    let registry: ConnectionRegistry
    var phase = Phase.open
    var framer: LineFramer
    var pending: PendingRequests
    /// By the client's name.
    private(set) var streams: [String: (ticket: Int, stream: APIStream, request: AccessRequest?)] = [:]
    let requests: WaitingRequests
    var outgoing = ByteBuffer()
    /// The last plain token request.
    var repeated: RepeatedRequest?
    /// Runs while a line is incomplete; for the first line, from the connection.
    var lineDeadline: TimerID?
    /// Nothing is buffered of a line.
    var isBetweenLines = false
    /// To be parsed on another thread.
    var longLine: [ByteBuffer]?
    var longLineBytes = 0
    /// The bytes of the request that begins now, if they count; otherwise 0.
    var requestBytes = 0
    /// By ticket.
    private var longRequests: [Int: Int] = [:]
    /// A batch with requests that have not begun. No line is read meanwhile.
    var batch: BatchRest?
    /// A long line is being parsed.
    var isParsing = false
    /// The next lines are processed in the next turn.
    var isDeferred = false
    private var hasInputEnded = false
    private var hasProcessEnded = false
    private(set) var unsent = BufferedSince()
    private(set) var unread = BufferedSince()
    private var lingers = false

    init(_ caller: Caller, socket: ClientSocket, registry: ConnectionRegistry) {
        number = registry.nextNumber()
        self.caller = caller
        mayLackSender = socket.asksForSenders()
        caller.socket = socket
        self.socket = socket
        self.registry = registry
        requests = WaitingRequests(registry: registry)
        framer = LineFramer(limit: registry.limits.lineBytes)
        pending = PendingRequests(
            limit: registry.limits.requestsPerConnection, batchBytes: registry.limits.batchAnswerBytes)
        subscriptions = Subscriptions(limit: registry.limits.subscriptions)
    }

    // MARK: Socket events

    func begin() {
        do throws(AgentError) {
            try registry.enter(self)
            process?.add(self)
        } catch {
            return refuse(error)
        }
        startLineDeadline("after connecting")
    }

    func received(_ bytes: ByteBuffer, from sender: PeerCredentials) {
        guard phase == .open else { return }
        guard isFromPeer(sender) else { return refuse(.senderChanged) }
        framer.append(bytes)
        processLines()
        framer.copyRest()
        isBetweenLines = framer.rest == 0 && lineDeadline == nil
        flush()
    }

    func sentSome() { count() }

    func roomReturned() {
        processLines()
        flush()
    }

    func inputEnded() {
        hasInputEnded = true
        requests.inputEnded()
        endIfDone()
    }

    func closed(_ failure: SystemFailure?) {
        if let failure {
            registry.logger.debug("A connection ended: \(failure)", metadata: ["peer_pid": "\(peer.processID)"])
        }
        phase = .closed
        release()
        for (_, stream, _) in streams.values { stream.close(.callerGone) }
        requests.end()
        if lingers { registry.lingerEnded() }
        lingers = false
        registry.leave(self)
    }

    // MARK: Answering

    func give(_ answer: RequestHandling, to place: PendingRequests.Destination) {
        switch answer {
        case .now(let result): deliver(result.map(Payload.value), to: place)
        case .rendered(let json): deliver(.success(.text(json)), to: place)
        case .live(let token, _):
            let json = token.json(at: registry.clock.bootInstant)
            deliver(.success(.text(json)), to: place, endsAtLock: true)
        case .later(let request): begin(request, for: place)
        case .open(let opening): open(opening, for: place)
        case .onStream(let name, let use):
            guard let stream = streams[name]?.stream else { return deliver(.failure(.noStream), to: place) }
            give(use(stream), to: place)
        case .bodySocket(let stream, let direction): openSocket(for: stream, direction, to: place)
        case .subscribe(let params):
            do throws(AgentError) {
                try subscriptions.add(params)
                if hasProcessEnded { unsubscribe() } else { registry.follow(self) }
                deliver(.success(.value([:])), to: place)
                let snapshot = registry.snapshot(for: params.session, caller)
                if isConfined || registry.dispatcher.access.mayHideSessions { sent.record(snapshot) }
                send(RPCReply.notification(snapshot))
            } catch {
                deliver(.failure(error), to: place)
            }
        case .unsubscribe(let params):
            subscriptions.remove(params)
            if subscriptions.isEmpty { registry.unfollow(self) }
            deliver(.success(.value([:])), to: place)
        }
    }

    // MARK: Waiting work

    private func begin(_ request: WaitingRequest, for place: PendingRequests.Destination) {
        do throws(AgentError) {
            requests.begin(request, as: try reserve(for: place), for: self)
            if hasInputEnded { requests.inputEnded() }
        } catch {
            deliver(.failure(error), to: place)
        }
    }

    /// - Throws: `busy` if too many requests are in progress.
    private func reserve(for place: PendingRequests.Destination) throws(AgentError) -> Int {
        guard let ticket = pending.reserve(for: place) else { throw .tooManyRequests(registry.limits) }
        do throws(AgentError) {
            try registry.requestBudget.begin(longBytes: requestBytes, of: peer, isConfined: isConfined)
        } catch {
            _ = pending.removeDestination(of: ticket)
            pending.release(ticket)
            throw error
        }
        if requestBytes > 0 { longRequests[ticket] = requestBytes }
        return ticket
    }

    /// Called once for each reserved ticket, even after the connection has closed.
    private func endRequest(_ ticket: Int) {
        pending.release(ticket)
        let longBytes = longRequests.removeValue(forKey: ticket) ?? 0
        registry.requestBudget.end(longBytes: longBytes, of: peer, isConfined: isConfined)
    }

    /// A call with a stream. It counts as in progress until the stream has ended.
    private func open(_ opening: StreamOpening, for place: PendingRequests.Destination) {
        do throws(AgentError) {
            guard let listener = registry.listener else { throw .stopping }
            guard streams[opening.name] == nil else { throw .streamNameTaken }
            guard streams.count < registry.limits.streamsPerConnection else {
                throw .tooManyStreams(registry.limits.streamsPerConnection)
            }
            let ticket = try reserve(for: place)
            let stream: APIStream
            do throws(AgentError) {
                stream = try opening.make { [number] result in
                    let answer = result.map { Payload.text($0.rendered) }
                    listener.perform { $0.answered(ticket, of: number, answer) }
                }
            } catch {
                _ = pending.removeDestination(of: ticket)
                endRequest(ticket)
                throw error
            }
            streams[opening.name] = (ticket, stream, opening.request)
            caller.streamSessions[opening.name] = opening.request?.target.name
            requests.begin(stream: { await opening.run(stream) }, as: ticket, for: self)
        } catch {
            deliver(.failure(error), to: place)
        }
    }

    func answered(_ ticket: Int, _ result: Result<Payload, AgentError>) {
        guard phase == .open || phase == .finishing, let place = pending.removeDestination(of: ticket) else { return }
        deliver(result, to: place, endsAtLock: requests.endsAtLock(ticket) || isStream(ticket))
        flush()
    }

    func ended(_ ticket: Int) {
        requests.ended(ticket)
        endRequest(ticket)
        if let name = streams.first(where: { $0.value.ticket == ticket })?.key {
            streams[name] = nil
            caller.streamSessions[name] = nil
        }
        endIfDone()
    }

    // MARK: Responses

    func deliver(
        _ result: Result<Payload, AgentError>, to place: PendingRequests.Destination, endsAtLock: Bool = false
    ) {
        switch pending.deliver(result, at: place, endsAtLock: endsAtLock) {
        case .response(let line)?: write(line)
        case .batch(let pieces)?: write(pieces)
        case nil: break
        }
    }

    func send(_ json: JSON) { write(json.serialized()) }

    /// An event. A client that does not read loses its connection, so that its events do not fill the memory.
    func send(event line: [UInt8]) {
        guard phase == .open else { return }
        write(line)
        flush()
    }

    func flush() {
        handOver()
        count()
        endIfDone()
    }

    /// Reports the number of buffered bytes to the registry. That may close this connection, or others.
    func count() {
        guard socket.isOpen else { return }
        let unsentBytes = socket.waiting + pending.bufferedBytes
        if unsentBytes != unsent.bytes {
            let former = unsent.change(to: unsentBytes, at: socket.executor.now)
            registry.unsentChanged(of: self, by: unsentBytes - former)
        }
        let longBytes = longLine?.reduce(0) { $0 + $1.storageCapacity } ?? 0
        let unreadBytes = framer.storedBytes + longBytes + (batch?.bytes ?? 0)
        if unreadBytes != unread.bytes, phase == .open {
            let former = unread.change(to: unreadBytes, at: socket.executor.now)
            registry.unreadChanged(of: self, by: unreadBytes - former)
        }
    }

    /// Drops unread input and its count.
    private func releaseUnread() {
        stopLineDeadline()
        framer = LineFramer(limit: registry.limits.lineBytes)
        longLine = nil
        endBatch()
        registry.unreadChanged(of: self, by: -unread.change(to: 0, at: socket.executor.now))
    }

    private func release() {
        releaseUnread()
        pending = PendingRequests(limit: 0, batchBytes: 0)
        registry.unsentChanged(of: self, by: -unsent.change(to: 0, at: socket.executor.now))
    }

    /// The client does not read its responses.
    func endUnread() {
        registry.counters.refusal()
        registry.closings.unread(peer)
        close()
    }

    // MARK: Closing

    /// Answers requests in progress, then closes.
    func finish() {
        guard phase == .open else { return }
        phase = .finishing
        socket.setReading(false)
        subscriptions.remove(SubscribeParams())
        endIfDone()
    }

    /// Its requests are answered, to the process that has the connection now. Nothing more is read, and no event is sent.
    func processEnded() {
        guard phase == .open else { return }
        hasProcessEnded = true
        unsubscribe()
        socket.endInput()
        inputEnded()
    }

    private func unsubscribe() {
        subscriptions.remove(SubscribeParams())
        registry.unfollow(self)
    }

    func close() {
        phase = .closed
        // First: the count must not include bytes that are still released later.
        release()
        socket.close()
    }

    private func endIfDone() {
        if phase == .open, !hasInputEnded { return }
        let finished = phase == .finishing || (phase == .lingering && hasInputEnded)
        // Lines that wait for room are answered first.
        let left = phase == .open && hasInputEnded && subscriptions.isEmpty && socket.hasRoom && !isDeferred
        guard finished || left, pending.isIdle && !isParsing || phase == .lingering else { return }
        guard socket.isOpen, outgoing.readableBytes == 0 else { return }
        phase = .closed
        // After the last response, however slowly the client reads it.
        socket.closeWhenSent()
    }

    /// Sends the error, accepts nothing more, and closes.
    func refuse(_ error: AgentError) {
        guard phase == .open, socket.isOpen else { return }
        registry.counters.refusal()
        registry.closings.refused(peer, error)
        send(RPCReply.failure(.null, error))
        phase = .lingering
        releaseUnread()
        handOver()
        count()
        guard socket.isOpen else { return }
        guard registry.canLinger() else { return close() }
        lingers = true
        socket.setReading(true)
        socket.endOutputWhenSent()
        socket.executor.schedule(in: registry.limits.linger) { [self] in close() }
    }
}
