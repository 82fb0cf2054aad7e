internal import AuthConcurrency
internal import AuthModel
package import AuthWire
internal import Synchronization

/// The body of a response, on its way from the transport to a client, in pieces or through a socket.
///
/// Invariants: at most ``maxHeld`` bytes and one piece more are held; each waiting side is resumed once; what was held
/// when the provider failed is still passed on before the failure is. While there is a socket, everything goes through it
/// in order; it is closed once the end is known and nothing is held. Only then does a read get the end.
package final class DownloadPipe: Sendable {
    /// Two responses to `api.read`: while one is sent, the next one is filled.
    private static let maxHeld = 2 * Limits.pieceBytes

    private struct State {
        var held: [ArraySlice<UInt8>] = []
        var count = 0
        var output: (any BodyOutput)?
        /// There is a socket, or there was one.
        var hasHadSocket = false
        var end: End?
        /// The end was read, or the reader is gone.
        var isOver = false
        /// Why the stream was ended before the response was.
        var reason: AgentError?
        var reader: Waiter?
        var writer: Waiter?
        /// Since when the transport waits for the client.
        var idleSince: BootInstant?
    }

    private enum End {
        case whole
        case failed(AgentError)
    }

    private typealias Waiter = OneShot<Void>

    /// The socket to close and the waiters to resume after a change of the state.
    private struct Effects {
        private var closed: (any BodyOutput)?
        private var resumed: [Waiter] = []

        mutating func close(_ output: (any BodyOutput)?) { closed = output ?? closed }

        mutating func resume(_ waiter: Waiter?) { if let waiter { resumed.append(waiter) } }

        func perform() {
            closed?.close()
            for waiter in resumed { waiter.send(()) }
        }
    }

    private let clock: any SystemClock
    private let state = Mutex(State())

    init(clock: any SystemClock) {
        self.clock = clock
    }

    var idleSince: BootInstant? { state.withLock { $0.idleSince } }

    /// Changes the state, and performs the effects once it is unlocked.
    private func change<Outcome: Sendable>(_ change: (inout State, inout Effects) -> Outcome) -> Outcome {
        var effects = Effects()
        let outcome = state.withLock { change(&$0, &effects) }
        effects.perform()
        return outcome
    }

    // MARK: The client's side

    /// The next piece, when there is one. With a socket, that is the end, without bytes, once all bytes were written.
    package func read() async throws(AgentError) -> StreamPiece {
        while true {
            let outcome = change { state, effects -> Result<StreamPiece?, AgentError> in
                guard state.reader == nil else { return .failure(.oneReadAtATime) }
                let outcome = Self.nextPiece(&state)
                if case .success(nil) = outcome { return outcome }
                state.idleSince = nil
                effects.resume(state.writer.take())
                return outcome
            }
            if let piece = try outcome.get() { return piece }
            let wait = Waiter()
            let mayGoOn = state.withLock { state in
                let mayGoOn = state.isOver || (state.output == nil && (state.count > 0 || state.end != nil))
                if !mayGoOn { state.reader = wait }
                return mayGoOn
            }
            if !mayGoOn, await wait.value() == nil {
                state.withLock { if $0.reader === wait { $0.reader = nil } }
                throw .callerGone
            }
        }
    }

    private static func nextPiece(_ state: inout State) -> Result<StreamPiece?, AgentError> {
        guard !state.isOver else { return .failure(state.reason ?? .noStream) }
        guard state.output == nil else { return .success(nil) }
        var bytes: [UInt8] = []
        while let first = state.held.first, bytes.isEmpty || bytes.count + first.count <= Limits.pieceBytes {
            bytes += first
            state.count -= first.count
            state.held.removeFirst()
        }
        switch state.end {
        case .failed(let error)? where bytes.isEmpty:
            state.isOver = true
            return .failure(error)
        case .whole? where state.held.isEmpty:
            state.isOver = true
            return .success(StreamPiece(bytes: bytes, isLast: true))
        default: return .success(bytes.isEmpty ? nil : StreamPiece(bytes: bytes, isLast: false))
        }
    }

    /// - Throws: if the rest cannot be read from a socket. Nothing has changed then.
    func requireSocketAllowed() throws(AgentError) {
        let refusal = state.withLock { state -> AgentError? in
            if state.isOver { return .noStream }
            if state.hasHadSocket { return .oneSocket }
            return state.reader == nil ? nil : .oneReadAtATime
        }
        if let refusal { throw refusal }
    }

    /// Writes the rest to a socket whose other end the client has, after ``requireSocketAllowed()``.
    func write(to output: any BodyOutput) {
        let isTransportWaiting = change { state, effects in
            guard !state.isOver else {
                effects.close(output)
                return false
            }
            (state.output, state.hasHadSocket, state.idleSince) = (output, true, nil)
            defer { effects.resume(state.writer.take()) }
            return state.writer != nil
        }
        // Otherwise the transport writes what is held.
        if !isTransportWaiting { writeHeld() }
    }

    // MARK: The socket

    /// Writes what is held, while the transport may be waiting for the provider.
    private func writeHeld() {
        let waiting = change { state, effects -> (any BodyOutput)? in
            Self.writeHeld(&state, &effects)
            return state.held.isEmpty ? nil : state.output
        }
        waiting?.whenReady { [self] in writeHeld() }
    }

    private static func writeHeld(_ state: inout State, _ effects: inout Effects) {
        guard let output = state.output else { return }
        while let first = state.held.first {
            guard let count = unsafe first.withUnsafeBytes({ unsafe output.write($0) }) else {
                return abandon(&state, &effects)
            }
            guard count > 0 else { return }
            state.count -= count
            state.idleSince = nil
            effects.resume(state.writer.take())
            if count == first.count { state.held.removeFirst() } else { state.held[0] = first.dropFirst(count) }
        }
        guard state.end != nil else { return }
        effects.close(state.output.take())
        effects.resume(state.reader.take())
    }

    // MARK: The transport's side

    /// Writes to the socket what it accepts now, directly from the transport's buffer.
    /// - Returns: the number of bytes; 0 if there is no socket, or if bytes before these have not been written.
    func pass(_ bytes: UnsafeRawBufferPointer) -> Int {
        change { state, effects in
            guard state.held.isEmpty, state.end == nil, let output = state.output else { return 0 }
            guard let count = unsafe output.write(bytes) else {
                Self.abandon(&state, &effects)
                return 0
            }
            return count
        }
    }

    /// The bytes that arrived before it was known that the response is long.
    /// - Returns: whether it is wanted.
    func hold(_ piece: [UInt8]) -> Bool {
        let isWanted = append(piece)
        writeHeld()
        return isWanted
    }

    private func append(_ piece: [UInt8]) -> Bool {
        change { state, effects in
            guard !state.isOver else { return false }
            guard !piece.isEmpty else { return true }
            state.held.append(piece[...])
            state.count += piece.count
            if state.output == nil { effects.resume(state.reader.take()) }
            return true
        }
    }

    /// Returns when there is room for more.
    /// - Throws: ``TransportError/cancelled`` if the reader is gone.
    func receive(_ piece: [UInt8]) async throws(TransportError) {
        _ = append(piece)
        try await room(atMost: Self.maxHeld)
    }

    /// Returns when the client has read everything, including the end, or has closed the stream.
    func drained() async {
        try? await room(atMost: -1)
    }

    private func room(atMost most: Int) async throws(TransportError) {
        while true {
            let now = clock.now().boot
            let wait = Waiter()
            let (isOver, isRoom, full) = change { state, effects -> (Bool, Bool, (any BodyOutput)?) in
                Self.writeHeld(&state, &effects)
                // What the kernel holds for the client is enough.
                let isRoom = state.count <= (state.output == nil ? most : min(most, 0))
                if !state.isOver, !isRoom { (state.writer, state.idleSince) = (wait, now) }
                return (state.isOver, isRoom, state.held.isEmpty ? nil : state.output)
            }
            if isOver { throw .cancelled }
            if isRoom { return }
            full?.whenReady { wait.send(()) }
            let isResumed = await wait.value() != nil
            state.withLock { if $0.writer === wait { ($0.writer, $0.idleSince) = (nil, nil) } }
            if !isResumed { throw .cancelled }
        }
    }

    /// No more bytes follow; `nil`: the body is complete.
    func end(_ error: AgentError? = nil) {
        change { state, effects in
            if state.end == nil { state.end = error.map(End.failed) ?? .whole }
            if state.output == nil { effects.resume(state.reader.take()) }
        }
        writeHeld()
    }

    /// The reader has gone: the bytes that are held are dropped.
    /// - Parameter reason: the error for a read that is waiting.
    func abandon(_ reason: AgentError? = nil) {
        change { state, effects in Self.abandon(&state, &effects, reason) }
    }

    private static func abandon(_ state: inout State, _ effects: inout Effects, _ reason: AgentError? = nil) {
        if !state.isOver { state.reason = reason }
        state.isOver = true
        (state.held, state.count, state.idleSince) = ([], 0, nil)
        effects.close(state.output.take())
        effects.resume(state.reader.take())
        effects.resume(state.writer.take())
    }
}

extension AgentError {
    /// There is no stream of that name, or it has ended.
    package static var noStream: AgentError {
        AgentError(.notFound, "No stream with that name exists on this connection.", cause: "no_stream")
    }

    /// For a call whose client has ended its stream.
    package static var streamClosed: AgentError {
        AgentError(.denied, "The client ended the stream.", cause: "stream_closed")
    }

    fileprivate static var oneReadAtATime: AgentError {
        AgentError(.busy, "Another read of this stream is in progress.")
    }

    fileprivate static var oneSocket: AgentError {
        AgentError(.busy, "This response has had its socket; a response has only one.")
    }
}
