import AuthAgent
import AuthConcurrency
import AuthModel
import AuthWire
import Logging
import NIOCore

/// One client: its lines in, its answers out, in the order in which they are ready.
///
/// Only the thread of the sockets uses it. Invariants: at most `limits.requestsPerConnection` requests are in progress; no
/// line is taken while more than `limits.pauseAbove` bytes of answers wait for the client, or while a line of it is parsed
/// elsewhere; after `phase` has left `.open` no line is taken at all. What is kept for the client is counted (``count()``)
/// before the thread does anything else.
final class Connection: ClientSocketDelegate {
    enum Phase {
        case open
        /// Its requests under way are answered, then it ends.
        case finishing
        /// It was told why and is given a moment to stop writing.
        case lingering
        case closed
    }

    /// Handed to the socket in one piece, so that a burst of requests is one write.
    static let writeChunk = 64 << 10
    /// Of the buffer that an idle connection keeps for its next answer.
    private static let keptBuffer = 4 << 10
    /// Of a turn, in bytes of lines: what a request costs besides its bytes, and what a plain one costs in all.
    static let (requestShare, plainShare) = (64, 8)

    /// No other connection of the registry ever has it.
    let number: Int
    let peer: PeerCredentials
    private(set) var subscriptions: Subscriptions
    let socket: ClientSocket
    let registry: ConnectionRegistry
    var phase = Phase.open
    var framer: LineFramer
    var pending: PendingRequests
    /// By the client's names for them.
    private var streams: [String: (ticket: Int, stream: APIStream)] = [:]
    private var requests: AsyncStream<RequestTask>.Continuation?
    /// Of requests in progress, by ticket.
    private var deadlines: [Int: TimerID] = [:]
    var outgoing = ByteBuffer()
    /// Runs while a line is incomplete, before the first one from the beginning.
    var lineDeadline: TimerID?
    /// Waits to be parsed.
    var longLine: [UInt8]?
    var longLineBytes = 0
    /// Of the long line whose requests are begun now, for each of them.
    var requestBytes = 0
    /// By ticket.
    private var longRequests: [Int: Int] = [:]
    /// Until the long line is parsed.
    var isParsing = false
    /// Lines that it has are taken in the next turn.
    var isDeferred = false
    private var hasInputEnded = false
    private(set) var unsent = BufferedSince()
    private(set) var unread = BufferedSince()
    private var lingers = false

    init(peer: PeerCredentials, socket: ClientSocket, registry: ConnectionRegistry) {
        number = registry.nextNumber()
        self.peer = peer
        self.socket = socket
        self.registry = registry
        framer = LineFramer(limit: registry.limits.lineBytes)
        pending = PendingRequests(
            limit: registry.limits.requestsPerConnection, batchBytes: registry.limits.batchAnswerBytes)
        subscriptions = Subscriptions(limit: registry.limits.subscriptions)
    }

    // MARK: The socket's events

    func begin() {
        do throws(AgentError) {
            try registry.enter(self)
        } catch {
            return refuse(error)
        }
        startLineDeadline("after connecting")
    }

    func received(_ bytes: ByteBuffer) {
        guard phase == .open else { return }
        framer.append(bytes)
        processLines()
        framer.keepRest()
        flush()
    }

    func tookSome() { count() }

    func roomReturned() {
        processLines()
        flush()
    }

    func inputEnded() {
        hasInputEnded = true
        endIfDone()
    }

    func closed(_ failure: SystemFailure?) {
        if let failure {
            registry.logger.debug("A connection ended: \(failure)", metadata: ["peer_pid": "\(peer.processID)"])
        }
        phase = .closed
        release()
        requests?.finish()
        requests = nil
        if lingers { registry.lingerEnded() }
        lingers = false
        registry.leave(self)
    }

    // MARK: Answering

    func give(_ answer: RequestHandling, to place: PendingRequests.Destination) {
        switch answer {
        case .now(let result): deliver(result.map(Payload.value), to: place)
        case .rendered(let json): deliver(.success(.text(json)), to: place)
        case .later(let limit, let work): begin(work, within: limit, for: place)
        case .open(let opening): open(opening, for: place)
        case .onStream(let name, let use):
            guard let (_, stream) = streams[name] else { return deliver(.failure(.noStream), to: place) }
            give(use(stream), to: place)
        case .subscribe(let params):
            do throws(AgentError) {
                try subscriptions.add(params)
                registry.follow(self)
                deliver(.success(.value([:])), to: place)
                send(RPCReply.notification(registry.snapshot(for: params.session)))
            } catch {
                deliver(.failure(error), to: place)
            }
        case .unsubscribe(let params):
            subscriptions.remove(params)
            if subscriptions.isEmpty { registry.unfollow(self) }
            deliver(.success(.value([:])), to: place)
        }
    }

    // MARK: Work that waits

    private func begin(
        _ work: @escaping RequestTask.Work, within limit: Duration, for place: PendingRequests.Destination
    ) {
        do throws(AgentError) {
            let ticket = try reserve(for: place)
            registry.counters.began()
            let late = OneShot<Void>()
            deadlines[ticket] = socket.executor.schedule(in: limit) { late.send(()) }
            (requests ?? openTasks()).yield(
                RequestTask(ticket: ticket, kind: .once(within: limit, late: late, work)))
        } catch {
            deliver(.failure(error), to: place)
        }
    }

    /// - Throws: `busy` where no more may be in progress.
    private func reserve(for place: PendingRequests.Destination) throws(AgentError) -> Int {
        guard let ticket = pending.reserve(for: place) else { throw .tooManyRequests(registry.limits) }
        guard requestBytes > 0 else { return ticket }
        guard registry.canBegin(longRequest: requestBytes, of: self) else {
            _ = pending.removeDestination(of: ticket)
            pending.release(ticket)
            throw .tooManyLongRequests
        }
        longRequests[ticket] = requestBytes
        return ticket
    }

    private func endRequest(_ ticket: Int) {
        pending.release(ticket)
        if let bytes = longRequests.removeValue(forKey: ticket) { registry.longRequestEnded(bytes, of: self) }
    }

    /// A call with a stream beside it, which counts as under way until the stream has ended.
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
            registry.counters.began()
            streams[opening.name] = (ticket, stream)
            (requests ?? openTasks()).yield(RequestTask(ticket: ticket, kind: .stream { await opening.run(stream) }))
        } catch {
            deliver(.failure(error), to: place)
        }
    }

    private func openTasks() -> AsyncStream<RequestTask>.Continuation {
        let (stream, continuation) = AsyncStream<RequestTask>.makeStream()
        requests = continuation
        registry.start(ConnectionTasks(number: number, requests: stream), of: self)
        return continuation
    }

    func answered(_ ticket: Int, _ result: Result<Payload, AgentError>) {
        guard phase == .open || phase == .finishing, let place = pending.removeDestination(of: ticket) else { return }
        deliver(result, to: place)
        flush()
    }

    func ended(_ ticket: Int) {
        registry.counters.ended()
        if let deadline = deadlines.removeValue(forKey: ticket) { socket.executor.cancel(deadline) }
        endRequest(ticket)
        if let name = streams.first(where: { $0.value.ticket == ticket })?.key { streams[name] = nil }
        endIfDone()
    }

    // MARK: Answers

    func deliver(_ result: Result<Payload, AgentError>, to place: PendingRequests.Destination) {
        if let line = pending.deliver(result, at: place) { write(line) }
    }

    func send(_ json: JSON) { write(json.serialized()) }

    /// An event from elsewhere; a client that has stopped reading loses its connection rather than our memory.
    func send(event line: [UInt8]) {
        guard phase == .open else { return }
        write(line)
        flush()
    }

    private func write(_ line: [UInt8]) {
        guard socket.isOpen else { return }
        outgoing.writeBytes(line)
        outgoing.writeInteger(UInt8(ascii: "\n"))
        if outgoing.readableBytes >= Self.writeChunk { handOver() }
    }

    func flush() {
        handOver()
        count()
        endIfDone()
    }

    /// To the socket, which keeps what the client does not take.
    func handOver() {
        guard socket.isOpen, outgoing.readableBytes > 0 else { return }
        guard socket.waiting <= registry.limits.closeAbove else { return endUnread() }
        socket.send(outgoing)
        // Where all of it was sent at once, the storage is used again.
        if outgoing.capacity > Self.keptBuffer { outgoing = ByteBuffer() } else { outgoing.clear() }
    }

    /// Tells the registry what is kept for this client. That may end this connection, or others.
    private func count() {
        guard socket.isOpen else { return }
        let unsentBytes = socket.waiting + pending.heldBytes
        if unsentBytes != unsent.bytes {
            let former = unsent.change(to: unsentBytes, at: socket.executor.now)
            registry.unsentChanged(of: self, by: unsentBytes - former)
        }
        let unreadBytes = framer.storedBytes + (longLine?.count ?? 0)
        if unreadBytes != unread.bytes, phase == .open {
            let former = unread.change(to: unreadBytes, at: socket.executor.now)
            registry.unreadChanged(of: self, by: unreadBytes - former)
        }
    }

    /// Drops what was not read yet, and takes its bytes off the count.
    private func releaseUnread() {
        stopLineDeadline()
        framer = LineFramer(limit: registry.limits.lineBytes)
        longLine = nil
        registry.unreadChanged(of: self, by: -unread.change(to: 0, at: socket.executor.now))
    }

    private func release() {
        releaseUnread()
        pending = PendingRequests(limit: 0, batchBytes: 0)
        registry.unsentChanged(of: self, by: -unsent.change(to: 0, at: socket.executor.now))
    }

    /// The client does not read its answers.
    func endUnread() {
        registry.counters.refusal()
        registry.closings.unread(peer)
        close()
    }

    /// The client does not complete its lines, and others need the memory.
    func endIncomplete() {
        refuse(
            AgentError(
                .busy,
                "Incomplete lines use too much of the agent's memory, and most of it is this process's: connect again and "
                    + "send complete lines."))
    }

    // MARK: The end

    /// Answers what is under way, then ends.
    func finish() {
        guard phase == .open else { return }
        phase = .finishing
        socket.setReading(false)
        subscriptions.remove(SubscribeParams())
        endIfDone()
    }

    func close() {
        phase = .closed
        // At once: what others may leave lying is counted with it.
        release()
        socket.close()
    }

    private func endIfDone() {
        if phase == .open, !hasInputEnded { return }
        let finished = phase == .finishing || (phase == .lingering && hasInputEnded)
        // Lines that wait for room are still to be answered.
        let left = phase == .open && hasInputEnded && subscriptions.isEmpty && socket.hasRoom && !isDeferred
        guard finished || left, pending.isIdle && !isParsing || phase == .lingering else { return }
        guard socket.isOpen, outgoing.readableBytes == 0 else { return }
        phase = .closed
        // Behind the last answer, however slowly the client takes it.
        socket.closeWhenSent()
    }

    /// Says why, takes nothing more, and ends.
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
        socket.executor.schedule(in: registry.limits.linger) { [weak self] in self?.close() }
    }
}
