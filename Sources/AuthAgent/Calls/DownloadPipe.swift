internal import AuthConcurrency
internal import AuthModel
package import AuthWire
internal import Synchronization

/// The body of a response, on its way from the transport to a client.
///
/// Invariants: at most ``maxHeld`` bytes and one piece more are held; each waiting side is resumed once; what was held
/// when the provider failed is still given out before the failure is.
package final class DownloadPipe: Sendable {
    /// Two responses to `api.read`: while one is sent, the next one is filled.
    private static let maxHeld = 2 * Limits.pieceBytes

    private struct State {
        var held: [[UInt8]] = []
        var count = 0
        var end: End?
        /// The end was read, or the reader is gone.
        var isOver = false
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

    private let clock: any SystemClock
    private let state = Mutex(State())

    init(clock: any SystemClock) {
        self.clock = clock
    }

    var idleSince: BootInstant? { state.withLock { $0.idleSince } }

    // MARK: The client's side

    /// The next piece, when there is one.
    package func read() async throws(AgentError) -> StreamPiece {
        while true {
            let (outcome, writer) = state.withLock { state -> (Result<StreamPiece?, AgentError>, Waiter?) in
                guard state.reader == nil else { return (.failure(.oneReadAtATime), nil) }
                let outcome = Self.nextPiece(&state)
                if case .success(nil) = outcome { return (outcome, nil) }
                state.idleSince = nil
                defer { state.writer = nil }
                return (outcome, state.writer)
            }
            writer?.send(())
            if let piece = try outcome.get() { return piece }
            let wait = Waiter()
            let mayGoOn = state.withLock { state in
                let mayGoOn = state.count > 0 || state.end != nil || state.isOver
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
        guard !state.isOver else { return .failure(.noStream) }
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

    // MARK: The transport's side

    /// The bytes that arrived before it was known that the response is long.
    /// - Returns: whether it is wanted.
    func hold(_ piece: [UInt8]) -> Bool {
        let (isWanted, reader) = state.withLock { state -> (Bool, Waiter?) in
            guard !state.isOver else { return (false, nil) }
            guard !piece.isEmpty else { return (true, nil) }
            state.held.append(piece)
            state.count += piece.count
            defer { state.reader = nil }
            return (true, state.reader)
        }
        reader?.send(())
        return isWanted
    }

    /// Returns when there is room for more.
    /// - Throws: ``TransportError/cancelled`` if the reader is gone.
    func receive(_ piece: [UInt8]) async throws(TransportError) {
        _ = hold(piece)
        try await room(atMost: Self.maxHeld)
    }

    /// Returns when the client has read everything, including the end, or has closed the stream.
    func drained() async {
        try? await room(atMost: -1)
    }

    private func room(atMost most: Int) async throws(TransportError) {
        let now = clock.now().boot
        let wait = Waiter()
        let mayGoOn = state.withLock { state in
            let mayGoOn = state.isOver || state.count <= most
            if !mayGoOn { (state.writer, state.idleSince) = (wait, now) }
            return mayGoOn
        }
        if !mayGoOn, await wait.value() == nil {
            state.withLock { if $0.writer === wait { ($0.writer, $0.idleSince) = (nil, nil) } }
            throw .cancelled
        }
        let (isOver, isRoom) = state.withLock { ($0.isOver, $0.count <= most) }
        if isOver { throw .cancelled }
        if !isRoom { try await room(atMost: most) }
    }

    /// No more bytes follow; `nil`: the body is complete.
    func end(_ error: AgentError? = nil) {
        let reader = state.withLock { state -> Waiter? in
            if state.end == nil { state.end = error.map(End.failed) ?? .whole }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.send(())
    }

    /// The reader has gone: the bytes that are held are dropped.
    func abandon() {
        let waiters = state.withLock { state -> [Waiter?] in
            state.isOver = true
            (state.held, state.count, state.idleSince) = ([], 0, nil)
            defer { (state.reader, state.writer) = (nil, nil) }
            return [state.reader, state.writer]
        }
        for waiter in waiters { waiter?.send(()) }
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
}
