import AuthAgent
import AuthWire

/// The requests of a batch that have not begun. Each has a share of a turn, like a line, so that other clients do not
/// wait for the whole batch.
struct BatchRest {
    /// In ``PendingRequests``.
    let number: Int
    /// The bytes that count as unread until the last request has begun: the line and its requests. A line of 257 bytes
    /// can have 128 requests, which need much more memory.
    let bytes: Int
    /// Whether its line was parsed off the loop.
    let isLong: Bool
    /// How many bytes of its line each request has; empty if the line is too short to count.
    private let requestBytes: [Int]
    private var requests: ArraySlice<Result<RPCRequest, RPCProblem>>

    init(
        _ requests: [Result<RPCRequest, RPCProblem>], number: Int, lineBytes: Int, requestBytes: [Int], isLong: Bool
    ) {
        self.number = number
        self.isLong = isLong
        bytes = lineBytes + requests.count * MemoryLayout<Result<RPCRequest, RPCProblem>>.stride
        self.requestBytes = requestBytes
        self.requests = requests[...]
    }

    var isEmpty: Bool { requests.isEmpty }

    /// - Returns: the next request, and how many bytes of it count.
    mutating func next() -> (request: Result<RPCRequest, RPCProblem>, bytes: Int)? {
        let position = requests.startIndex
        return requests.popFirst().map { ($0, requestBytes.isEmpty ? 0 : requestBytes[position]) }
    }
}

extension Connection {
    /// - Parameters:
    ///   - requestBytes: how many bytes of its line each request has; empty if the line is too short to count.
    ///   - isLong: whether the line was parsed off the loop.
    func begin(
        _ requests: [Result<RPCRequest, RPCProblem>], lineBytes: Int, _ requestBytes: [Int], isLong: Bool
    ) {
        batch = BatchRest(
            requests, number: pending.openBatch(of: requests.count), lineBytes: lineBytes, requestBytes: requestBytes,
            isLong: isLong)
        if isLong { registry.longBatch = self }
    }

    /// - Returns: its share of the turn; `nil` if the connection has closed.
    func processNextOfBatch() -> Int? {
        guard phase == .open || phase == .finishing, socket.isOpen, let next = batch?.next(), let batch else {
            endBatch()
            return nil
        }
        requestBytes = next.bytes
        defer {
            requestBytes = 0
            if batch.isEmpty { endBatch() }
        }
        switch next.request {
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
        if ended.isLong { registry.longBatchEnded() }
    }
}
