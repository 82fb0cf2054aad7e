import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import NIOCore

/// Reads requests from lines, within the limits of a line, without blocking the loop for other clients.
extension Connection {
    func processLines() {
        guard !isDeferred else { return }
        caller.beginTurn()
        var share = registry.limits.lineBytesPerTurn
        var end: ExecutorInstant?
        while share > 0, let used = processNext() {
            share -= used
            // Most clients send one line at a time: then the clock is not read.
            guard framer.rest > 0 || batch != nil else { continue }
            let now = socket.executor.now
            if let end, now >= end { share = 0 }
            end = end ?? now + registry.limits.turnTime
        }
        caller.endTurn()
        guard phase == .open || batch != nil else { return }
        if mayTakeLine || batch != nil, share <= 0 {
            isDeferred = true
            registry.processLater(self)
        }
        guard phase == .open else { return }
        let isReading = mayTakeLine && !isDeferred
        socket.setReading(isReading)
        watchLine(isReading: isReading)
    }

    /// The next request of a batch, or else the next line.
    /// - Returns: its share of this turn; `nil` if there is none.
    private func processNext() -> Int? {
        if batch != nil { return processNextOfBatch() }
        guard mayTakeLine, let piece = framer.next() else { return nil }
        switch piece {
        case .line(let line): return process(line)
        case .longLine(let parts):
            stopLineDeadline()
            return parseElsewhere(parts)
        case .tooLong:
            refuse(
                AgentError(
                    .tooLarge, "A line may have at most \(registry.limits.lineBytes) bytes; this line is longer."))
            return 0
        }
    }

    var mayTakeLine: Bool { phase == .open && socket.isOpen && socket.hasRoom && !isParsing && batch == nil }

    func readsLater() -> Bool {
        guard framer.rest > registry.limits.lineBytesAtOnce else { return false }
        isDeferred = true
        socket.setReading(false)
        registry.processLater(self)
        return true
    }

    /// Lines that were left in an earlier turn, or else more input.
    func continueDeferred() {
        isDeferred = false
        processLines()
        flush()
        if framer.isInMidLine { socket.readNow() }
    }

    /// While the client is not read from, its line has no deadline.
    func watchLine(isReading: Bool) {
        guard isReading, framer.isInMidLine else {
            // The deadline of the first line begins with the connection.
            if !isReading { stopLineDeadline() }
            return
        }
        if lineDeadline == nil { startLineDeadline("after its first byte") }
    }

    /// - Parameter beginning: when the time begins, for the error message.
    func startLineDeadline(_ beginning: String) {
        let limit = registry.limits.lineTime
        // It is cancelled when the connection closes.
        lineDeadline = socket.executor.schedule(in: limit) { [self] in
            refuse(AgentError(.timeout, "No complete line was received within \(limit) \(beginning)."))
        }
    }

    func stopLineDeadline() {
        guard let deadline = lineDeadline else { return }
        socket.executor.cancel(deadline)
        lineDeadline = nil
    }

    /// - Returns: its share of this turn.
    func process(_ line: ByteBuffer) -> Int {
        stopLineDeadline()
        if answerRepeated(line) { return Self.plainShare }
        if let plain = PlainTokenRequest(line.readableBytesUInt8Span), answer(plain, in: line) {
            return Self.plainShare
        }
        if let plain = PlainStatusRequest(line.readableBytesUInt8Span), answer(plain, in: line) {
            return line.readableBytes + Self.requestShare
        }
        let limits = registry.limits
        guard line.readableBytes <= limits.lineBytesOnLoop else { return parseElsewhere(line) }
        do throws(JSONError) {
            let json = try JSON(
                parsing: line.readableBytesUInt8Span, values: min(limits.lineValuesOnLoop, limits.lineValues))
            let isCounted = line.readableBytes >= limits.longRequest
            requestBytes = isCounted ? line.readableBytes : 0
            defer { requestBytes = 0 }
            process(
                json, lineBytes: line.readableBytes, isCounted ? LongLine.requestBytes(of: .success(json)) : [],
                isLong: false)
        } catch {
            if error.isTooLarge, limits.lineValuesOnLoop < limits.lineValues { return parseElsewhere(line) }
            refuseLine(error)
        }
        return line.readableBytes + Self.requestShare
    }

    private func parseElsewhere(_ line: ByteBuffer) -> Int {
        parseElsewhere([ByteBuffer(bytes: line.readableBytesView)])
    }

    private func parseElsewhere(_ parts: [ByteBuffer]) -> Int {
        longLine = parts
        longLineBytes = parts.reduce(0) { $0 + $1.readableBytes }
        isParsing = true
        registry.parse(self)
        return 0
    }

    /// The line to parse, once; `nil` if it is not needed any more.
    func nextLongLine() -> [ByteBuffer]? {
        defer { longLine = nil }
        return longLine
    }

    /// - Parameter batchBytes: how many bytes each request of a batch has.
    func parsed(_ result: Result<JSON, JSONError>, _ batchBytes: [Int]) {
        isParsing = false
        guard phase == .open || phase == .finishing, socket.isOpen else { return }
        switch result {
        case .success(let json):
            requestBytes = longLineBytes
            process(json, lineBytes: longLineBytes, batchBytes, isLong: !batchBytes.isEmpty)
            requestBytes = 0
        case .failure(let error): refuseLine(error)
        }
        processLines()
        flush()
    }

    func refuseLine(_ error: JSONError) {
        let refusal =
            error.isTooLarge
            ? AgentError(
                .tooLarge, "A line may have at most \(registry.limits.lineValues) JSON values; this line has more.")
            : .parseError("The line is not JSON: \(error).")
        send(RPCReply.failure(.null, refusal))
    }

    /// The client does not complete its lines, and others need the memory.
    func endIncomplete() { refuse(.incompleteLines) }

    func process(_ json: JSON, lineBytes: Int, _ batchBytes: [Int], isLong: Bool) {
        // Checked before the elements are read: a line may have thousands of them.
        if case .array(let elements) = json, elements.count > registry.limits.requestsPerConnection {
            let most = registry.limits.requestsPerConnection
            let error = AgentError(
                .tooLarge, "A batch may have at most \(most) requests; this one has \(elements.count).")
            return send(RPCReply.failure(.null, error))
        }
        switch RPCIncoming(json) {
        case .single(.success(let request)):
            process(request, for: request.id.map(PendingRequests.Destination.line) ?? .notification)
        case .single(.failure(let problem)): send(RPCReply.failure(problem.id, problem.error))
        case .batch(let requests): begin(requests, lineBytes: lineBytes, batchBytes, isLong: isLong)
        }
    }

    /// Whether the token was in memory, and no rule refuses it.
    func answer(_ plain: PlainTokenRequest, in line: ByteBuffer) -> Bool {
        let version = registry.board.version
        let now = registry.clock.bootInstant
        guard confinement == nil, let token = registry.board.liveToken(plain.session, minValid: nil, at: now) else {
            return false
        }
        let decision = registry.dispatcher.access.plainDecision(about: token, by: caller)
        guard !decision.isRefused else { return false }
        let entry = recordPlain(token, decision, at: now)
        let response = PlainTokenResponse(token: token, validMilliseconds: token.validMilliseconds(at: now))
        repeated = RepeatedRequest(plain, in: line, token: token, decision, entry, boardVersion: version)
        unsafe line.withUnsafeReadableBytes { bytes in
            unsafe write(response, id: UnsafeRawBufferPointer(rebasing: bytes[plain.id]))
        }
        return true
    }

    func write(_ response: PlainTokenResponse, id: UnsafeRawBufferPointer) {
        let length = response.maxLength(idLength: id.count)
        write { output in
            _ = unsafe output.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { room in
                unsafe response.write(id: id, to: room)
            }
        }
    }

    func process(_ request: RPCRequest, for place: PendingRequests.Destination) {
        registry.counters.request()
        give(registry.dispatcher.answer(request, from: caller), to: place)
    }
}
