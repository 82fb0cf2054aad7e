import AuthConnection
import AuthWire
import Glibc

/// A call whose body or response is streamed.
struct Transfer {
    /// The name of the only stream on this connection.
    static let stream = "body"

    let options: Options
    let request: any AgentMethod<APIResponse>
    var body: BodyFile?
    var output: ResponseFile?

    private var progress: TransferProgress
    private var call: Int64 = 0
    private var write: Int64?
    private var socket = BodySocket.available
    private var read: Int64?
    private var source = ResponseSource.available
    /// The agent's answer that the response is complete. The rest of the response is in the socket.
    private var ending: JSON?
    /// Why a read failed while the socket was open. The read is sent again at the end of the socket.
    private var readFailure: AgentError?
    /// The response is read once no write is in progress, because the answers to both may come with a descriptor.
    private var isReadDue = false
    private var received = 0
    private var head: (response: APIResponse, json: JSON)?

    /// The socket through which the body is sent.
    private enum BodySocket {
        /// There is none now, but one can be requested.
        case available
        /// The write in progress requests one for the bytes from `offset` on.
        case requested(offset: Int)
        /// The bytes before `position` have been written.
        case open(Descriptor, position: Int)
        /// The agent has not passed one, because it is older, or sendfile(2) does not support the file.
        case unavailable

        /// -1 for none.
        var descriptor: Int32 {
            if case .open(let output, _) = self { output.number } else { -1 }
        }
    }

    /// The socket from which the response is read.
    private enum ResponseSource {
        /// There is none now, but one can be requested.
        case available
        /// The read in progress requests one.
        case requested
        case open(Descriptor)
        /// The rest is read in pieces: the agent has not passed one, or its end has been reached.
        case unavailable

        /// -1 for none.
        var descriptor: Int32 {
            if case .open(let input) = self { input.number } else { -1 }
        }
    }

    init(_ request: some AgentMethod<APIResponse>, _ options: Options, body: BodyFile?, output: ResponseFile?) {
        self.request = request
        self.options = options
        self.body = body
        self.output = output
        progress = TransferProgress(options)
    }

    /// Returns the response. Its body is in `output`, if there is one.
    mutating func run() throws(Failure) -> (response: APIResponse, json: JSON) {
        // A write to a pipe or a terminal may block for as long as its reader likes: there, a signal ends authc at once, and
        // nothing is left behind.
        let isUnfinished = output?.isUnfinished ?? true
        let signals = try Signals(isUnfinished ? [SIGINT, SIGTERM, SIGHUP, SIGQUIT] : [])
        let connection = try options.connect(beforeSecrets: true).connection
        let deadline = options.timeout.map { Deadline.after($0 + Agent.grace) } ?? .never
        do throws(Failure) {
            defer { progress.clear() }
            return try run(connection, signals, deadline)
        } catch {
            // The end of the connection ends the stream.
            output?.discard()
            if let number = signals.consume() { signals.performDefault(number) }
            throw error
        }
    }

    private mutating func run(
        _ connection: AgentConnection, _ signals: Signals, _ deadline: Deadline
    ) throws(Failure) -> (response: APIResponse, json: JSON) {
        call = try begin(request, connection, deadline)
        if body != nil { try send(from: 0, connection, deadline) }
        while true {
            try fillSocket(connection, deadline)
            try emptySocket(connection, deadline)
            if let head, !isReadDue, read == nil, source.descriptor < 0 { return head }
            guard case .answer(let id, let result) = try next(connection, signals, deadline) else { continue }
            switch id {
            case call: try callEnded(result, connection, deadline)
            case write: try writeEnded(result, connection, deadline)
            case read: try readEnded(result, connection, deadline)
            default: break
            }
            if isReadDue, write == nil {
                isReadDue = false
                try readMore(connection, deadline)
            }
        }
    }

    private mutating func callEnded(
        _ result: Result<JSON, AgentError>, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) {
        let json = try Self.value(result)
        let response = try mappingErrors { () throws(ClientError) in try decoded(json, as: APIResponse.self) }
        head = (response, json)
        body = nil
        if case .open = socket { socket = .available }
        guard response.stream != nil, output != nil else { return }
        // For one piece, a socket would only cost another request.
        if let size = response.size, size <= Limits.pieceBytes { source = .unavailable }
        isReadDue = true
    }

    private mutating func writeEnded(
        _ result: Result<JSON, AgentError>, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) {
        write = nil
        var requested: Int?
        if case .requested(let offset) = socket { (requested, socket) = (offset, .available) }
        let passed = connection.takeDescriptor()
        // The call has been answered, or will be.
        if case .failure(let error) = result, error.cause == "no_stream" { return }
        if let requested, case .failure(let error) = result, error.kind == .busy {
            socket = .unavailable
            return try send(from: requested, connection, deadline)
        }
        let json = try Self.value(result)
        guard let accepted = try? StreamTaken(json), !accepted.done, body != nil else { return }
        if requested != nil, let passed {
            socket = .open(passed, position: accepted.next)
            return
        }
        if requested == accepted.next { socket = .unavailable }
        try send(from: accepted.next, connection, deadline)
    }

    private mutating func send(
        from offset: Int, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) {
        guard let body else { return }
        progress.moved(to: offset, of: body.announced.size)
        if case .available = socket, body.isFile, offset != body.announced.size {
            connection.acceptDescriptors()
            socket = .requested(offset: offset)
            write = try begin(APIWrite(socketFor: Self.stream, offset: offset), connection, deadline)
            return
        }
        let piece = try body.piece(at: offset)
        let params = APIWrite(
            stream: Self.stream, offset: offset, bytes: piece.bytes, isLast: piece.isLast)
        write = try begin(params, connection, deadline)
    }

    /// Writes what the socket accepts now. After the last byte, a piece without bytes ends the body.
    private mutating func fillSocket(_ connection: AgentConnection, _ deadline: Deadline) throws(Failure) {
        guard case .open(let output, let position) = socket, let body else { return }
        guard position != body.announced.size else {
            socket = .available
            return try send(from: position, connection, deadline)
        }
        switch try body.send(to: output, from: position) {
        case .sent(let count):
            socket = .open(output, position: position + count)
            progress.moved(to: position + count, of: body.announced.size)
        case .later: break
        case .unread:
            // The response says from where on the agent needs the body now, if at all.
            socket = .available
            try send(from: 0, connection, deadline)
        case .unsupported:
            socket = .unavailable
            try send(from: position, connection, deadline)
        }
    }

    private mutating func readMore(_ connection: AgentConnection, _ deadline: Deadline) throws(Failure) {
        guard case .available = source else {
            read = try begin(APIRead(stream: Self.stream), connection, deadline)
            return
        }
        connection.acceptDescriptors()
        source = .requested
        read = try begin(APIRead(socketFor: Self.stream), connection, deadline)
    }

    /// Writes what has arrived in the socket. Only the read shows whether the response is complete.
    private mutating func emptySocket(_ connection: AgentConnection, _ deadline: Deadline) throws(Failure) {
        guard case .open(let input) = source, let output else { return }
        switch try output.copy(from: input) {
        case .bytes(let count):
            received += count
            progress.moved(to: received, of: head?.response.size)
        case .later: break
        case .end:
            source = .unavailable
            if let ended = ending {
                ending = nil
                try accept(ended, connection, deadline)
            } else if read == nil {
                try readMore(connection, deadline)
            }
        }
    }

    private mutating func readEnded(
        _ result: Result<JSON, AgentError>, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) {
        read = nil
        if case .requested = source {
            source = .unavailable
            if case .failure(let error) = result, error.kind == .busy { return try readMore(connection, deadline) }
            if let passed = connection.takeDescriptor() {
                source = .open(passed)
                // Sent early: an agent that is stopping reads no requests, and one that has ended the stream forgets
                // the reason.
                return try readMore(connection, deadline)
            }
        }
        guard case .open = source else {
            if case .failure(let error) = result, error.cause == "no_stream", let readFailure {
                throw Failure(readFailure)
            }
            return try accept(try Self.value(result), connection, deadline)
        }
        switch result {
        case .success(let json): ending = json
        case .failure(let error): readFailure = error
        }
    }

    /// Writes a piece. The last one completes the response.
    private mutating func accept(
        _ json: JSON, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) {
        let piece = try mappingErrors { () throws(ClientError) in try decoded(json, as: StreamPiece.self) }
        // Request the next piece before writing this one, so that both happen at once.
        if !piece.isLast { try readMore(connection, deadline) }
        try output?.write(piece.bytes)
        received += piece.bytes.count
        progress.moved(to: received, of: head?.response.size)
        if piece.isLast { try output?.finish() }
    }

    // MARK: The connection

    private func begin(
        _ request: some AgentMethod, _ connection: AgentConnection, _ deadline: Deadline
    ) throws(Failure) -> Int64 {
        try mappingErrors { () throws(ClientError) in try connection.begin(request, deadline: deadline) }
    }

    private func next(
        _ connection: AgentConnection, _ signals: Signals, _ deadline: Deadline
    ) throws(Failure) -> Message? {
        // The agent may have closed the connection after its last answer.
        let isWaiting = ending == nil
        if isWaiting {
            let message = try mappingErrors { () throws(ClientError) in try connection.nextMessage(deadline: .now) }
            if let message { return message }
        }
        let outcome = signals.wait(
            for: .readable(isWaiting ? connection.fileDescriptor : -1), .writable(socket.descriptor),
            .readable(source.descriptor), until: deadline)
        switch outcome {
        case .ready: return nil
        case .deadline: throw failure(.timedOut)
        case .signal: throw failure(.cancelled)
        }
    }

    private func mappingErrors<Value>(_ work: () throws(ClientError) -> Value) throws(Failure) -> Value {
        do throws(ClientError) {
            return try work()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: ClientError) -> Failure {
        Failure(error, doing: type(of: request).name, within: options.timeout ?? Agent.defaultTimeout)
    }

    private static func value(_ result: Result<JSON, AgentError>) throws(Failure) -> JSON {
        do {
            return try result.get()
        } catch {
            throw Failure(error)
        }
    }
}
