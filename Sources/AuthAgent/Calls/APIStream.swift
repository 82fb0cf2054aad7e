import AuthConcurrency
package import AuthModel
package import AuthWire
internal import Synchronization

/// The streamed part of one call: its body, its response, or both.
///
/// It lives as long as the call's task. The call gets one response: only the head, if the body of the response is streamed.
package final class APIStream: HTTPResponseSink {
    /// Answers the call.
    package typealias Respond = @Sendable (Result<APIResponse, AgentError>) -> Void

    /// The client's name for it.
    package let name: String
    let upload: UploadPipe?
    let download: DownloadPipe?
    /// Sent when the client has disconnected or its time is over.
    let closed = OneShot<Void>()
    private let respond: Respond
    private let state = Mutex(State())

    private struct State {
        var hasResponded = false
        var isClosed = false
        /// Sent when it is closed.
        var closing: OneShot<Void>?
        var acceptsHTML = false
    }

    /// How long a client may leave the other side waiting: a stopped program, a slow disk, a pipe to a pager.
    static let clientIdle = Duration.seconds(300)

    /// - Throws: `-32602` if the params contradict each other.
    package init(
        name: String, body: BodyStream?, answer: ResponseMode, clock: any SystemClock, respond: @escaping Respond
    ) throws(AgentError) {
        guard !name.isEmpty, name.utf8.count <= Self.longestName else {
            throw .invalidParams("params.stream: expected 1 to \(Self.longestName) bytes.")
        }
        guard body != nil || answer == .stream else {
            throw .invalidParams("params.stream: expected a body_stream, or \"answer\": \"stream\", beside it.")
        }
        self.name = name
        self.respond = respond
        upload = body.map { UploadPipe($0, clock: clock) }
        download = answer == .stream ? DownloadPipe(clock: clock) : nil
    }

    private static let longestName = 64

    // MARK: The client's side

    package func write(_ piece: APIWrite) async throws(AgentError) -> StreamTaken {
        guard let upload else { throw .notWritten }
        return try await upload.write(piece)
    }

    /// - Parameter create: creates the socket. It is called only if the socket can be used.
    /// - Returns: where the next bytes begin, and whether they are read from the socket.
    package func acceptSocket(
        at offset: Int, _ create: () throws(AgentError) -> any BodySocket
    ) throws(AgentError) -> (taken: StreamTaken, isUsed: Bool) {
        guard let upload else { throw .notWritten }
        return try upload.acceptSocket(at: offset, create)
    }

    package func read() async throws(AgentError) -> StreamPiece {
        guard let download else { throw .notRead }
        return try await download.read()
    }

    /// - Throws: if the rest of the response cannot be read from a socket. Nothing has changed then.
    package func requireOutputAllowed() throws(AgentError) {
        guard let download else { throw .notRead }
        try download.requireSocketAllowed()
    }

    /// Writes the rest of the response to a socket whose other end the client has, after ``requireOutputAllowed()``.
    package func write(to output: any BodyOutput) { download?.write(to: output) }

    /// Ends it: the client has disconnected or has closed the stream, its time is over, or it may no longer read it.
    package func close(_ error: AgentError) {
        let closing = state.withLock { state in
            state.isClosed = true
            return state.closing
        }
        respondOnce(.failure(error))
        closed.send(())
        closing?.send(())
        upload?.finish(.failed(error))
        // A client that has closed the stream knows why.
        download?.abandon(error == .streamClosed ? nil : error)
    }

    // MARK: The call's side

    /// Whether its client has been told that it is over: then nothing is sent.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether its call waits for what ends with the closing, too.
    var isWaiting: Bool { state.withLock { $0.closing != nil } }

    /// Gets a value when it is closed; replaces the one before.
    func closing() -> OneShot<Void> {
        let closing = OneShot<Void>()
        let isClosed = state.withLock { state in
            state.closing = closing
            return state.isClosed
        }
        if isClosed { closing.send(()) }
        return closing
    }

    /// Ends the attempt if it can be repeated. The next attempt gets what the client sends from now on.
    /// - Returns: whether it can be repeated.
    func rewind() -> Bool { !hasResponded && (upload?.rewind() ?? true) }

    var idleSince: BootInstant? {
        [upload?.idleSince, download?.idleSince].compactMap(\.self).min()
    }

    /// A long answer has begun: what is left of it says nothing about the call.
    var isFlowing: Bool { download != nil && hasResponded }

    private var hasResponded: Bool { state.withLock { $0.hasResponded } }

    /// - Parameter after: the bytes after the streamed part of the body.
    func attach(to request: inout HTTPRequest, after: [UInt8]?, acceptsHTML: Bool) {
        if let after, let upload, let before = request.body {
            request.body = nil
            request.source = FramedBody(before: before, pipe: upload, after: after)
        }
        state.withLock { $0.acceptsHTML = acceptsHTML }
        guard download != nil else { return }
        request.sink = self
        // A body that is passed on as bytes must not be compressed.
        if request.headers.allSatisfy({ $0.name.lowercased() != "accept-encoding" }) {
            request.headers.append(HTTPField("Accept-Encoding", "identity"))
        }
    }

    /// Responds to the call. A body that was received as a whole is sent in pieces, too.
    func finish(_ result: Result<APIResponse, AgentError>, _ reply: HTTPResponse?) async {
        upload?.finish(.done)
        switch result {
        case .success:
            if let download, let reply, !hasResponded {
                respondOnce(.success(head(reply)))
                try? await download.receive(reply.body)
            } else {
                respondOnce(result)
            }
            download?.end()
        case .failure(let error):
            guard hasResponded else {
                // The agent stops, whatever error the call reports. A client that has left has closed the stream.
                respondOnce(Task.isCancelled ? .failure(.stopping) : result)
                download?.abandon()
                return
            }
            download?.end(error)
        }
        await download?.drained()
    }

    private func respondOnce(_ result: Result<APIResponse, AgentError>) {
        let isFirst = state.withLock { state in
            defer { state.hasResponded = true }
            return !state.hasResponded
        }
        if isFirst { respond(result) }
    }

    private func head(_ reply: HTTPResponse) -> APIResponse {
        var response = APIResponse(status: reply.status, headers: ResponseDecoder.headers(reply))
        response.stream = name
        response.size = reply.header("Content-Length").flatMap { Int($0) }
        return response
    }

    // MARK: The sink

    package func begin(_ head: HTTPResponse) -> Bool {
        guard let download, ResponseDecoder.isAllowedResponse(head, asked: state.withLock { $0.acceptsHTML }) else {
            return false
        }
        upload?.finish(.done)
        respondOnce(.success(self.head(head)))
        return download.hold(head.body)
    }

    package func pass(_ bytes: UnsafeRawBufferPointer) -> Int { unsafe download?.pass(bytes) ?? 0 }

    package func receive(_ piece: [UInt8]) async throws(TransportError) {
        try await download?.receive(piece)
    }
}

extension AgentError {
    fileprivate static var notWritten: AgentError {
        .invalidParams("params.stream: expected a stream that is written.")
    }

    fileprivate static var notRead: AgentError {
        .invalidParams("params.stream: expected a stream that is read.")
    }
}

extension PreparedCall {
    func build(_ record: SessionRecord, with stream: APIStream?) throws(AgentError) -> HTTPRequest {
        let built = try build(record)
        var request = built.request
        stream?.attach(to: &request, after: built.after, acceptsHTML: acceptsHTML)
        return request
    }
}
