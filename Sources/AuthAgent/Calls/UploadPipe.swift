internal import AuthConcurrency
internal import AuthModel
package import AuthWire
internal import Synchronization

/// A body on its way from a client to a transport, one piece at a time, or through a socket.
///
/// Invariants: at most one piece is held and one more waits; a piece is taken only where the one before it ended; each
/// waiting side is resumed once. Every reading begins at 0, ends the one before it and closes its socket. A piece that
/// follows a socket is taken once everything before it has been read from the socket.
package final class UploadPipe: Sendable {
    /// The sockets to close and the waiters to resume after a change of the state.
    struct Effects {
        private var closed: [any BodySocket] = []
        private var resumed: [Waiter] = []

        mutating func close(_ socket: (any BodySocket)?) { if let socket { closed.append(socket) } }

        mutating func resume(_ waiter: Waiter?) { if let waiter { resumed.append(waiter) } }

        func perform() {
            for socket in closed { socket.close() }
            for waiter in resumed { waiter.send(()) }
        }
    }

    let announced: BodyStream
    private let clock: any SystemClock
    private let state = Mutex(State())

    init(_ announced: BodyStream, clock: any SystemClock) {
        self.announced = announced
        self.clock = clock
    }

    /// Whether the body can be sent again from its start.
    /// What a client has written to a socket is lost, even if it has not been read.
    var mayRepeat: Bool { state.withLock { $0.mayRepeat(announced) } }

    var idleSince: BootInstant? { state.withLock { $0.idleSince } }

    /// Changes the state, and performs the effects once it is unlocked.
    private func change<Outcome: Sendable>(_ change: (inout State, inout Effects) -> Outcome) -> Outcome {
        var effects = Effects()
        let outcome = state.withLock { change(&$0, &effects) }
        effects.perform()
        return outcome
    }

    // MARK: The client's side

    /// Returns when the piece was accepted or refused; `next` is the offset of the piece that is expected then. The last
    /// piece is acknowledged after the provider's response, because until then the body may have to be sent again.
    package func write(_ piece: APIWrite) async throws(AgentError) -> StreamTaken {
        while true {
            let wait = Waiter()
            if let taken = try offer(piece, or: wait) { return taken }
            if await wait.value() == nil {
                state.withLock { if $0.writer === wait { $0.writer = nil } }
                throw .callerGone
            }
        }
    }

    /// `nil`: not yet. `wait` is resumed then.
    private func offer(_ piece: APIWrite, or wait: Waiter) throws(AgentError) -> StreamTaken? {
        try change { state, effects -> Result<StreamTaken?, AgentError> in
            let result = answer(to: piece, in: &state, &effects)
            // Before the state is unlocked: another write must not replace this one.
            if case .success(nil) = result { state.writer = wait }
            return result
        }.get()
    }

    private func answer(
        to piece: APIWrite, in state: inout State, _ effects: inout Effects
    ) -> Result<StreamTaken?, AgentError> {
        if let answer = state.answer { return answer }
        let end = piece.offset + piece.bytes.count
        // Accepted. It is unknown yet whether the body must be sent again.
        if state.isWhole, end == state.expected, piece.isLast { return .success(nil) }
        let isLater = state.followsInput(piece.offset)
        guard isLater || piece.offset == state.expected, !state.isWhole else {
            return .success(StreamTaken(next: state.expected))
        }
        if let problem = problem(end: end, isLast: piece.isLast) { return .failure(problem) }
        guard !isLater, state.held == nil else { return .success(nil) }
        state.held = piece.bytes
        state.expected = end
        state.isWhole = piece.isLast
        state.idleSince = nil
        effects.close(state.input.take())
        effects.resume(state.reader.take())
        return .success(piece.isLast ? nil : StreamTaken(next: end))
    }

    /// Reads what follows from a socket, which replaces an earlier one.
    /// - Parameter create: creates the socket. It is called only if the socket can be used.
    /// - Returns: where the next bytes begin, and whether the socket is used: only if they begin at `offset`.
    package func acceptSocket(
        at offset: Int, _ create: () throws(AgentError) -> any BodySocket
    ) throws(AgentError) -> (taken: StreamTaken, isUsed: Bool) {
        let early = try state.withLock { $0.answerToSocket(at: offset) }.get()
        guard early.isUsed else { return early }
        let socket = try create()
        return try change { state, effects -> SocketAnswer in
            let answer = state.answerToSocket(at: offset)
            guard case .success((taken: _, isUsed: true)) = answer else {
                effects.close(socket)
                return answer
            }
            effects.close(state.input.take())
            effects.resume(state.reader.take())
            (state.input, state.idleSince) = (socket, nil)
            state.sockets += 1
            return answer
        }.get()
    }

    /// The first one, and a few for a client that loses one or begins again.
    package static let socketsPerReading = 4

    private func problem(end: Int, isLast: Bool) -> AgentError? {
        guard let size = announced.size, end > size || (isLast && end != size) else { return nil }
        return AgentError(
            .validation, "The body was announced with \(size) bytes, and has \(isLast ? "" : "at least ")\(end).",
            cause: "size")
    }

    // MARK: The transport's side

    /// Ends the reading in progress. What the client sends from now on belongs to the next one.
    /// - Returns: whether the body can be sent again from its start. If not, nothing has changed.
    func rewind() -> Bool {
        change { state, effects in
            guard state.mayRepeat(announced) else { return false }
            state.rewind(&effects)
            return true
        }
    }

    /// A new reading, from the start.
    func begin() -> Reading {
        let number = change { state, effects in
            state.rewind(&effects)
            state.hasBegun = true
            return state.reading
        }
        return Reading(pipe: self, number: number)
    }

    struct Reading: HTTPBodyReader, HTTPBodyInput {
        let pipe: UploadPipe
        let number: Int

        func next() async throws(TransportError) -> HTTPBodyPiece? { try await pipe.next(of: self) }

        func read(into room: UnsafeMutableRawBufferPointer) -> Int { unsafe pipe.read(into: room, of: number) }
    }

    private func next(of reading: Reading) async throws(TransportError) -> HTTPBodyPiece? {
        while true {
            let outcome = change { state, effects -> Result<Next, TransportError> in
                guard state.end == nil, state.reading == reading.number else { return .failure(.cancelled) }
                if let held = state.held.take() {
                    // The writer of the last piece waits for the response.
                    if !state.isWhole { effects.resume(state.writer.take()) }
                    return .success(.piece(.bytes(held)))
                }
                if state.isWhole { return .success(.end) }
                guard let input = readable(in: state), input.isReady else { return .success(.later) }
                return .success(.piece(.input(reading)))
            }
            switch try outcome.get() {
            case .piece(let piece): return piece
            case .end: return nil
            case .later: break
            }
            let now = clock.now().boot
            let wait = Waiter()
            let (mayGoOn, input) = state.withLock { state -> (Bool, (any BodySocket)?) in
                let isOver = state.end != nil || state.reading != reading.number
                let mayGoOn = isOver || state.held != nil || state.isWhole
                if !mayGoOn { (state.reader, state.idleSince) = (wait, now) }
                return (mayGoOn, readable(in: state))
            }
            guard !mayGoOn else { continue }
            input?.whenReady { wait.send(()) }
            let isResumed = await wait.value() != nil
            state.withLock { if $0.reader === wait { ($0.reader, $0.idleSince) = (nil, nil) } }
            if !isResumed { throw .cancelled }
        }
    }

    private enum Next {
        case piece(HTTPBodyPiece)
        case end
        case later
    }

    /// `nil` if everything that was announced has been read: the client then reports the end.
    private func readable(in state: State) -> (any BodySocket)? {
        announced.size.map { state.expected < $0 } ?? true ? state.input : nil
    }

    private func read(into room: UnsafeMutableRawBufferPointer, of reading: Int) -> Int {
        change { state, effects in
            guard state.end == nil, state.reading == reading, let input = readable(in: state) else { return 0 }
            let rest = announced.size.map { $0 - state.expected } ?? room.count
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room.prefix(rest))
            guard let count = unsafe input.read(into: part) else { return 0 }
            state.expected += count
            if count == 0 { effects.close(state.input.take()) }
            effects.resume(state.writer.take())
            return count
        }
    }

    /// Ends the pipe. The first reason counts.
    func finish(_ end: End) {
        change { state, effects in
            guard state.end == nil else { return }
            (state.end, state.held, state.idleSince) = (end, nil, nil)
            effects.close(state.input.take())
            effects.resume(state.writer.take())
            effects.resume(state.reader.take())
        }
    }
}
