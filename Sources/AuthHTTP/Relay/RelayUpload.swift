package import NIOCore

/// A body that is sent while it arrives. It belongs to one event loop.
package final class RelayUpload {
    enum Next {
        case piece(ByteBuffer, accepted: EventLoopPromise<Void>)
        case end
        /// More may follow.
        case nothing
    }

    let length: Int?
    private let loop: any EventLoop
    private var pieces: [(piece: ByteBuffer, accepted: EventLoopPromise<Void>)] = []
    private var hasEnd = false
    /// Nothing more is sent.
    private var isOver = false
    /// Called when there is something to send.
    private var notify: (() -> Void)?

    /// - Parameter length: `nil` if it is not known before the end.
    package init(length: Int?, on loop: any EventLoop) {
        self.length = length
        self.loop = loop
    }

    // MARK: - The client

    /// The future ends when more can be sent.
    package func write(_ piece: ByteBuffer) -> EventLoopFuture<Void> {
        if isOver { return loop.makeSucceededVoidFuture() }
        let accepted = loop.makePromise(of: Void.self)
        pieces.append((piece, accepted))
        notify?()
        return accepted.futureResult
    }

    /// After the last piece.
    package func end() {
        hasEnd = true
        notify?()
    }

    /// The rest is not needed: what still arrives is accepted, and the body never ends. If it ended, the server could take the
    /// part that it has for the whole.
    package func abandon() {
        (isOver, notify) = (true, nil)
        let promises = pieces.map(\.accepted)
        pieces = []
        for promise in promises { promise.succeed() }
    }

    // MARK: - The server

    func begin(_ notify: @escaping () -> Void) {
        guard !isOver else { return }
        self.notify = notify
        notify()
    }

    func next() -> Next {
        if isOver { return .nothing }
        if let (first, accepted) = pieces.first {
            let others = pieces.dropFirst()
            pieces = []
            // They have arrived together, or while nothing could be sent.
            var piece = first
            for other in others {
                piece.writeImmutableBuffer(other.piece)
                accepted.futureResult.cascade(to: other.accepted)
            }
            return .piece(piece, accepted: accepted)
        }
        guard hasEnd else { return .nothing }
        (isOver, notify) = (true, nil)
        return .end
    }

    deinit { abandon() }
}
