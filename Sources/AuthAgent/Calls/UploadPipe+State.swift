internal import AuthConcurrency
internal import AuthModel
internal import AuthWire

extension UploadPipe {
    /// How much of a body has been accepted, and the answers to its client.
    struct State {
        var reading = 0
        /// Whether the reading has begun. What the client sends before that belongs to it, too.
        var hasBegun = false
        /// Where the next piece begins, or the next byte of the socket.
        var expected = 0
        var held: [UInt8]?
        /// The socket whose bytes follow the held piece.
        var input: (any BodySocket)?
        /// How many sockets this reading has had.
        var sockets = 0
        /// The last piece has been accepted.
        var isWhole = false
        var writer: Waiter?
        var reader: Waiter?
        /// Why no more pieces are accepted; `nil` while they are.
        var end: End?
        /// Since when the transport waits for the client.
        var idleSince: BootInstant?

        func mayRepeat(_ announced: BodyStream) -> Bool { !announced.once || (expected == 0 && sockets == 0) }

        /// Ends the reading, if one has begun.
        mutating func rewind(_ effects: inout Effects) {
            guard hasBegun else { return }
            effects.close(input.take())
            effects.resume(writer.take())
            effects.resume(reader.take())
            self = State(reading: reading + 1, end: end)
        }

        /// Whether what comes before `offset` may still be in the socket.
        func followsInput(_ offset: Int) -> Bool { input != nil && expected < offset }

        /// The answer to a write that cannot be accepted. `nil` if it may be accepted.
        var answer: Result<StreamTaken?, AgentError>? {
            switch end {
            case .done?: .success(StreamTaken(next: expected, done: true))
            case .failed(let error)?: .failure(error)
            case nil: writer == nil ? nil : .failure(.oneWriteAtATime)
            }
        }

        /// The answer to a request for a socket.
        func answerToSocket(at offset: Int) -> SocketAnswer {
            if let answer { return answer.map { ($0 ?? StreamTaken(next: expected), false) } }
            guard offset == expected, !isWhole else { return .success((StreamTaken(next: expected), false)) }
            guard sockets < UploadPipe.socketsPerReading else { return .failure(.tooManySockets) }
            return .success((StreamTaken(next: expected), true))
        }
    }

    enum End {
        case done
        case failed(AgentError)
    }

    typealias Waiter = OneShot<Void>
    typealias SocketAnswer = Result<(taken: StreamTaken, isUsed: Bool), AgentError>
}

extension AgentError {
    fileprivate static var oneWriteAtATime: AgentError {
        AgentError(.busy, "Another write to this stream is in progress.")
    }

    fileprivate static var tooManySockets: AgentError {
        AgentError(
            .busy,
            "This stream has had \(UploadPipe.socketsPerReading) sockets, the most that are allowed: send the rest in pieces."
        )
    }
}
