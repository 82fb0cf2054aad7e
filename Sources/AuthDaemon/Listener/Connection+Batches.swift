import AuthAgent
import AuthWire

/// The requests of a batch that have not begun. Each has a share of a turn, like a line, so that other clients do not
/// wait for the whole batch.
struct BatchRest {
    /// In ``PendingRequests``.
    let number: Int
    /// The length of its line, which counts as unread until the last request has begun.
    let lineBytes: Int
    /// How many bytes of its long line each request counts for; 0 if the line was short.
    let requestBytes: Int
    private var requests: ArraySlice<Result<RPCRequest, RPCProblem>>

    init(_ requests: [Result<RPCRequest, RPCProblem>], number: Int, lineBytes: Int, requestBytes: Int) {
        (self.number, self.lineBytes, self.requestBytes) = (number, lineBytes, requestBytes)
        self.requests = requests[...]
    }

    var isEmpty: Bool { requests.isEmpty }

    mutating func next() -> Result<RPCRequest, RPCProblem>? { requests.popFirst() }
}

extension Connection {
    func begin(_ requests: [Result<RPCRequest, RPCProblem>], lineBytes: Int) {
        batch = BatchRest(
            requests, number: pending.openBatch(of: requests.count), lineBytes: lineBytes, requestBytes: requestBytes)
        if requestBytes > 0 { registry.longBatch = self }
    }

    /// - Returns: its share of the turn; `nil` if the connection has closed.
    func processNextOfBatch() -> Int? {
        guard phase == .open || phase == .finishing, socket.isOpen, let request = batch?.next(), let batch else {
            endBatch()
            return nil
        }
        requestBytes = batch.requestBytes
        defer {
            requestBytes = 0
            if batch.isEmpty { endBatch() }
        }
        switch request {
        case .success(let request):
            process(request, for: request.id.map { .batch(batch.number, $0) } ?? .silentInBatch(batch.number))
        case .failure(let problem): deliver(.failure(problem.error), to: .batch(batch.number, problem.id))
        }
        return Self.requestShare
    }

    /// Afterwards, the next line may be read.
    func endBatch() {
        guard let ended = batch else { return }
        batch = nil
        if ended.requestBytes > 0 { registry.longBatchEnded() }
    }
}
