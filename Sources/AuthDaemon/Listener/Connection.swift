import AuthCore
import AuthWire
import Logging
import NIOCore

/// One client: its lines in, its answers out, in the order in which they are ready.
///
/// It lives on the loop. Invariants: at most `limits.requestsPerConnection` jobs run; no line is taken while more
/// than `limits.pauseAbove` bytes of answers wait for the client; after `phase` has left `.open` no line is taken at all.
final class Connection: SocketUser {
    private enum Phase {
        case open
        /// Its requests under way are answered, then it ends.
        case finishing
        /// It was told why and is given a moment to stop writing.
        case lingering
        case closed
    }

    /// Handed to the socket in one piece, so that a burst of requests is one write.
    private static let writeChunk = 64 << 10
    /// Of the buffer that an idle connection keeps for its next answer.
    private static let keptBuffer = 4 << 10

    let peer: PeerCredentials
    private(set) var subscriptions: Subscriptions
    private let socket: ClientSocket
    private let reception: Reception
    private var phase = Phase.open
    private var framer: LineFramer
    private var desk: AnswerDesk
    /// By the client's names for them.
    private var streams: [String: (ticket: Int, stream: APIStream)] = [:]
    private var jobs: AsyncStream<Job>.Continuation?
    private var outgoing = ByteBuffer()
    private var firstLine: Scheduled<Void>?
    private var hasInputEnded = false
    private var unsent = 0
    private var lingers = false

    init(peer: PeerCredentials, socket: ClientSocket, reception: Reception) {
        self.peer = peer
        self.socket = socket
        self.reception = reception
        framer = LineFramer(limit: reception.limits.lineBytes)
        desk = AnswerDesk(limit: reception.limits.requestsPerConnection)
        subscriptions = Subscriptions(limit: reception.limits.subscriptions)
    }

    // MARK: The socket's events

    func begin() {
        do throws(AgentError) {
            try reception.enter(self)
        } catch {
            return refuse(error)
        }
        let limit = reception.limits.firstLine
        firstLine = socket.loop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) { [weak self] in
            self?.refuse(AgentError(.timeout, "No whole line came within \(limit) of connecting."))
        }
    }

    func received(_ bytes: ByteBuffer) {
        guard phase == .open else { return }
        framer.append(bytes)
        takeLines()
        framer.keepRest()
        flush()
    }

    func roomReturned() {
        count(unsent: 0)
        takeLines()
        flush()
    }

    func inputEnded() {
        hasInputEnded = true
        endIfDone()
    }

    func closed(_ failure: SystemFailure?) {
        if let failure {
            reception.logger.debug("A connection ended: \(failure)", metadata: ["peer_pid": "\(peer.processID)"])
        }
        phase = .closed
        firstLine?.cancel()
        firstLine = nil
        jobs?.finish()
        jobs = nil
        count(unsent: 0)
        if lingers { reception.lingerEnded() }
        lingers = false
        reception.leave(self)
    }

    // MARK: Lines

    private func takeLines() {
        while phase == .open, socket.isOpen, socket.hasRoom, let piece = framer.next() {
            switch piece {
            case .line(let line): take(line)
            case .tooLong:
                refuse(
                    AgentError(
                        .tooLarge, "A line holds at most \(reception.limits.lineBytes) bytes; this one is longer."))
            }
        }
        if phase == .open { socket.setReading(socket.hasRoom) }
    }

    private func take(_ line: ByteBuffer) {
        if let timer = firstLine {
            timer.cancel()
            firstLine = nil
        }
        if let plain = PlainTokenRequest(line.readableBytesUInt8Span), answer(plain, in: line) { return }
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: line.readableBytesUInt8Span)
        } catch {
            return send(RPCReply.failure(.null, .parseError("The line is no JSON: \(error).")))
        }
        // Before anything is made of its elements: a line holds half a million of them.
        if case .array(let elements) = json, elements.count > reception.limits.requestsPerConnection {
            let most = reception.limits.requestsPerConnection
            let error = AgentError(
                .tooLarge, "A batch holds at most \(most) requests; this one holds \(elements.count).")
            return send(RPCReply.failure(.null, error))
        }
        switch RPCIncoming(json) {
        case .single(.success(let request)): take(request, for: request.id.map(AnswerDesk.Place.line) ?? .nobody)
        case .single(.failure(let problem)): send(RPCReply.failure(problem.id, problem.error))
        case .batch(let requests): take(requests)
        }
    }

    /// Whether memory had the token.
    private func answer(_ plain: PlainTokenRequest, in line: ByteBuffer) -> Bool {
        guard let token = reception.liveToken(plain.session) else { return false }
        reception.counters.request()
        outgoing.writeStaticString(RPCReply.head)
        unsafe line.withUnsafeReadableBytes { bytes in
            _ = unsafe outgoing.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[plain.id]))
        }
        outgoing.writeStaticString(RPCReply.middle)
        outgoing.writeBytes(token.json)
        outgoing.writeStaticString("}\n")
        if outgoing.readableBytes >= Self.writeChunk { handOver() }
        return true
    }

    private func take(_ requests: [Result<RPCRequest, RPCProblem>]) {
        let batch = desk.openBatch(of: requests.count)
        for request in requests {
            switch request {
            case .success(let request):
                take(request, for: request.id.map { .batch(batch, $0) } ?? .silentInBatch(batch))
            case .failure(let problem): deliver(.failure(problem.error), to: .batch(batch, problem.id))
            }
        }
    }

    private func take(_ request: RPCRequest, for place: AnswerDesk.Place) {
        reception.counters.request()
        give(reception.dispatcher.answer(request), to: place)
    }

    private func give(_ answer: Answer, to place: AnswerDesk.Place) {
        switch answer {
        case .now(let result): deliver(result, to: place)
        case .rendered(let json): deliver(rendered: json, to: place)
        case .later(let limit, let work): begin(work, within: limit, for: place)
        case .open(let opening): open(opening, for: place)
        case .onStream(let name, let use):
            guard let (_, stream) = streams[name] else { return deliver(.failure(.noStream), to: place) }
            give(use(stream), to: place)
        case .subscribe(let params):
            do throws(AgentError) {
                try subscriptions.add(params)
                reception.follow(self)
                deliver(.success(.object([:])), to: place)
                send(RPCReply.notification(reception.snapshot(for: params.session)))
            } catch {
                deliver(.failure(error), to: place)
            }
        case .unsubscribe(let params):
            subscriptions.remove(params)
            if subscriptions.isEmpty { reception.unfollow(self) }
            deliver(.success(.object([:])), to: place)
        }
    }

    // MARK: Work that waits

    private func begin(_ work: @escaping Job.Work, within limit: Duration, for place: AnswerDesk.Place) {
        guard let ticket = desk.takeTicket(for: place) else {
            return deliver(.failure(.tooManyRequests(reception.limits)), to: place)
        }
        reception.counters.began()
        (jobs ?? openCrew()).yield(Job(ticket: ticket, kind: .once(within: limit, work)))
    }

    /// A call with a stream beside it, which counts as under way until the stream has ended.
    private func open(_ opening: StreamOpening, for place: AnswerDesk.Place) {
        let loop = socket.loop
        do throws(AgentError) {
            guard streams[opening.name] == nil else { throw .streamNameTaken }
            guard streams.count < reception.limits.streamsPerConnection else {
                throw .tooManyStreams(reception.limits.streamsPerConnection)
            }
            guard let ticket = desk.takeTicket(for: place) else { throw .tooManyRequests(reception.limits) }
            let here = NIOLoopBound(self, eventLoop: loop)
            let stream: APIStream?
            do throws(AgentError) {
                stream = try opening.make { result in
                    loop.execute { here.value.answered(ticket, result.map(\.json)) }
                }
            } catch {
                _ = desk.takePlace(of: ticket)
                desk.giveBack(ticket)
                throw error
            }
            guard let stream else { return }
            reception.counters.began()
            streams[opening.name] = (ticket, stream)
            (jobs ?? openCrew()).yield(Job(ticket: ticket, kind: .stream { await opening.run(stream) }))
        } catch {
            deliver(.failure(error), to: place)
        }
    }

    private func openCrew() -> AsyncStream<Job>.Continuation {
        let (stream, continuation) = AsyncStream<Job>.makeStream()
        jobs = continuation
        let loop = socket.loop
        let here = NIOLoopBound(self, eventLoop: loop)
        reception.start(
            Crew(
                jobs: stream, loop: loop,
                answer: { ticket, result in loop.execute { here.value.answered(ticket, result) } },
                ended: { ticket in loop.execute { here.value.ended(ticket) } }))
        return continuation
    }

    private func answered(_ ticket: Int, _ result: Result<JSON, AgentError>) {
        guard phase == .open || phase == .finishing, let place = desk.takePlace(of: ticket) else { return }
        deliver(result, to: place)
        flush()
    }

    private func ended(_ ticket: Int) {
        reception.counters.ended()
        desk.giveBack(ticket)
        if let name = streams.first(where: { $0.value.ticket == ticket })?.key { streams[name] = nil }
        endIfDone()
    }

    // MARK: Answers

    private func deliver(_ result: Result<JSON, AgentError>, to place: AnswerDesk.Place) {
        if let line = desk.put(result, at: place) { send(line) }
    }

    private func deliver(rendered json: [UInt8], to place: AnswerDesk.Place) {
        if case .line(let id) = place { return write(RPCReply.line(id, rendered: json)) }
        // What goes into a batch is put together as values.
        deliver(.success((try? JSON(parsing: json)) ?? .null), to: place)
    }

    private func send(_ json: JSON) { write(json.serialized()) }

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

    private func flush() {
        handOver()
        endIfDone()
    }

    /// To the socket, which counts what the client has not taken.
    private func handOver() {
        guard socket.isOpen, outgoing.readableBytes > 0 else { return }
        if !socket.hasRoom, !mayWait() {
            reception.counters.refusal()
            reception.logger.warning(
                "A client does not read its answers: its connection ends.", metadata: ["peer_pid": "\(peer.processID)"])
            return close()
        }
        socket.send(outgoing)
        // Where all of it was sent at once, the storage is used again.
        if outgoing.capacity > Self.keptBuffer { outgoing = ByteBuffer() } else { outgoing.clear() }
    }

    /// Whether more may be kept for a client that has not taken what it was sent.
    private func mayWait() -> Bool {
        count(unsent: socket.waiting + outgoing.readableBytes) && socket.waiting <= reception.limits.closeAbove
    }

    @discardableResult
    private func count(unsent bytes: Int) -> Bool {
        defer { unsent = bytes }
        return reception.mayKeep(bytes, insteadOf: unsent)
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
        count(unsent: 0)
        socket.close()
    }

    private func endIfDone() {
        if phase == .open, !hasInputEnded { return }
        let finished = phase == .finishing || (phase == .lingering && hasInputEnded)
        // Lines that wait for room are still to be answered.
        let left = phase == .open && hasInputEnded && subscriptions.isEmpty && socket.hasRoom
        guard finished || left, desk.isIdle || phase == .lingering else { return }
        guard socket.isOpen, outgoing.readableBytes == 0 else { return }
        phase = .closed
        // Behind the last answer, however slowly the client takes it.
        socket.closeWhenSent()
    }

    /// Says why, takes nothing more, and ends.
    private func refuse(_ error: AgentError) {
        guard phase == .open, socket.isOpen else { return }
        reception.counters.refusal()
        reception.logger.info(
            "A connection is ended: \(error.message)",
            metadata: ["peer_pid": "\(peer.processID)", "peer_uid": "\(peer.userID)"])
        send(RPCReply.failure(.null, error))
        phase = .lingering
        handOver()
        guard reception.mayLinger() else { return close() }
        lingers = true
        socket.setReading(true)
        socket.endOutputWhenSent()
        let linger = TimeAmount(reception.limits.linger)
        socket.loop.assumeIsolated().scheduleTask(in: linger) { [weak self] in self?.close() }
    }
}
