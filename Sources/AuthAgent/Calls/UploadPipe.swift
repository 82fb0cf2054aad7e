internal import AuthConcurrency
internal import AuthModel
package import AuthWire
internal import Synchronization

/// A body on its way from a client to a transport, one piece at a time.
///
/// Invariants: at most one piece is held and one more waits; a piece is taken only where the one before it ended; each
/// waiting side is resumed once. Every reading begins at 0, and ends the one before it.
package final class UploadPipe: Sendable {
    private struct State {
        var reading = 0
        /// Where the next piece begins.
        var expected = 0
        var held: [UInt8]?
        /// The last piece was taken.
        var isWhole = false
        var writer: Waiter?
        var reader: Waiter?
        /// Why no more pieces are accepted; `nil` while they are.
        var end: End?
        /// Since when the transport waits for the client.
        var idleSince: BootInstant?
    }

    enum End {
        case done
        case failed(AgentError)
    }

    let announced: BodyStream
    private let clock: any SystemClock
    private let state = Mutex(State())

    init(_ announced: BodyStream, clock: any SystemClock) {
        self.announced = announced
        self.clock = clock
    }

    /// Whether the body can be sent again from its start.
    var mayRepeat: Bool { state.withLock { !announced.once || $0.expected == 0 } }

    var idleSince: BootInstant? { state.withLock { $0.idleSince } }

    // MARK: The client's side

    /// Returns when the piece was accepted or refused; `next` is the offset of the piece that is expected then. The last
    /// piece is acknowledged after the provider's response, because until then the body may have to be sent again.
    package func write(_ piece: APIWrite) async throws(AgentError) -> StreamTaken {
        while true {
            let reading = state.withLock { $0.reading }
            if let taken = try offer(piece, in: reading) { return taken }
            let wait = Waiter()
            let mayGoOn = state.withLock { state in
                let mayGoOn = state.end != nil || state.reading != reading || (state.held == nil && !state.isWhole)
                if !mayGoOn { state.writer = wait }
                return mayGoOn
            }
            if !mayGoOn, await wait.value() == nil {
                state.withLock { if $0.writer === wait { $0.writer = nil } }
                throw .callerGone
            }
        }
    }

    /// `nil`: not yet.
    private func offer(_ piece: APIWrite, in reading: Int) throws(AgentError) -> StreamTaken? {
        let (outcome, reader) = state.withLock { state -> (Result<StreamTaken?, AgentError>, Waiter?) in
            switch state.end {
            case .done?: return (.success(StreamTaken(next: state.expected, done: true)), nil)
            case .failed(let error)?: return (.failure(error), nil)
            case nil: break
            }
            guard state.writer == nil else { return (.failure(.oneWriteAtATime), nil) }
            let end = piece.offset + piece.bytes.count
            // Accepted. It is unknown yet whether the body must be sent again.
            if state.isWhole, end == state.expected, piece.isLast, state.reading == reading {
                return (.success(nil), nil)
            }
            guard piece.offset == state.expected, !state.isWhole else {
                return (.success(StreamTaken(next: state.expected)), nil)
            }
            if let problem = problem(end: end, isLast: piece.isLast) { return (.failure(problem), nil) }
            guard state.held == nil else { return (.success(nil), nil) }
            state.held = piece.bytes
            state.expected = end
            state.isWhole = piece.isLast
            state.idleSince = nil
            defer { state.reader = nil }
            return (.success(piece.isLast ? nil : StreamTaken(next: end)), state.reader)
        }
        reader?.send(())
        return try outcome.get()
    }

    private typealias Waiter = OneShot<Void>

    private func problem(end: Int, isLast: Bool) -> AgentError? {
        guard let size = announced.size, end > size || (isLast && end != size) else { return nil }
        return AgentError(
            .validation, "The body was announced with \(size) bytes, and has \(isLast ? "" : "at least ")\(end).",
            cause: "size")
    }

    // MARK: The transport's side

    /// A new reading, from the start.
    func begin() -> Reading {
        let (number, waiters) = state.withLock { state -> (Int, [Waiter?]) in
            let waiters = [state.writer, state.reader]
            let end = state.end
            // A piece that the client wrote before the first reading is the beginning.
            let isFirst = state.reading == 0
            state = State(
                reading: state.reading + 1, expected: isFirst ? state.expected : 0, held: isFirst ? state.held : nil,
                isWhole: isFirst && state.isWhole, end: end)
            return (state.reading, waiters)
        }
        for waiter in waiters { waiter?.send(()) }
        return Reading(pipe: self, number: number)
    }

    struct Reading: HTTPBodyReader {
        let pipe: UploadPipe
        let number: Int

        func next() async throws(TransportError) -> [UInt8]? { try await pipe.next(of: number) }
    }

    private func next(of reading: Int) async throws(TransportError) -> [UInt8]? {
        while true {
            let (outcome, writer) = state.withLock { state -> (Result<Piece, TransportError>, Waiter?) in
                guard state.end == nil, state.reading == reading else { return (.failure(.cancelled), nil) }
                if let held = state.held {
                    state.held = nil
                    // The writer of the last piece waits for the response.
                    guard !state.isWhole else { return (.success(.bytes(held)), nil) }
                    defer { state.writer = nil }
                    return (.success(.bytes(held)), state.writer)
                }
                return (.success(state.isWhole ? .end : .later), nil)
            }
            writer?.send(())
            switch try outcome.get() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .later: break
            }
            let now = clock.now().boot
            let wait = Waiter()
            let mayGoOn = state.withLock { state in
                let mayGoOn = state.end != nil || state.reading != reading || state.held != nil || state.isWhole
                if !mayGoOn { (state.reader, state.idleSince) = (wait, now) }
                return mayGoOn
            }
            if !mayGoOn, await wait.value() == nil {
                state.withLock { if $0.reader === wait { ($0.reader, $0.idleSince) = (nil, nil) } }
                throw .cancelled
            }
        }
    }

    private enum Piece {
        case bytes([UInt8])
        case end
        case later
    }

    /// Ends the pipe. The first reason counts.
    func finish(_ end: End) {
        let waiters = state.withLock { state -> [Waiter?] in
            guard state.end == nil else { return [] }
            state.end = end
            state.held = nil
            state.idleSince = nil
            defer { (state.writer, state.reader) = (nil, nil) }
            return [state.writer, state.reader]
        }
        for waiter in waiters { waiter?.send(()) }
    }
}

extension AgentError {
    fileprivate static var oneWriteAtATime: AgentError {
        AgentError(.busy, "Another write to this stream is in progress.")
    }
}
