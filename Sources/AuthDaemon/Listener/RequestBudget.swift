import AuthWire

/// The requests in progress of all clients, and the bytes of long ones.
///
/// Invariant: a request counts from ``begin(longBytes:of:isConfined:)`` until ``end(longBytes:of:isConfined:)``.
/// Requests of confined clients have a separate limit, and do not count for a process or a user.
struct RequestBudget {
    private struct Use {
        var requests = 0
        var longBytes = 0

        mutating func add(_ bytes: Int) {
            requests += 1
            longBytes += bytes
        }

        mutating func subtract(_ bytes: Int) {
            requests -= 1
            longBytes -= bytes
        }
    }

    private let limits: ConnectionLimits
    private var perProcess: [Int32: Use] = [:]
    private var perUser: [UInt32: Use] = [:]
    private var longBytesInAll = 0
    private var confined = Use()
    private var perConfinedProcess: [Int32: Use] = [:]

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// Counts a request.
    /// - Parameter longBytes: its bytes if it is long (``ConnectionLimits/longRequest``), otherwise 0.
    /// - Throws: `busy` if a limit is reached. Then nothing is counted.
    mutating func begin(longBytes: Int, of peer: PeerCredentials, isConfined: Bool) throws(AgentError) {
        guard !isConfined else {
            guard confined.requests < limits.confinedRequests else {
                throw .tooManyConfinedRequests(confined.requests)
            }
            let ofProcess = perConfinedProcess[peer.processID] ?? Use()
            guard ofProcess.requests < limits.requestsPerConfinedProcess else {
                throw .tooManyRequests(ofConfinedProcess: ofProcess.requests)
            }
            guard ofProcess.longBytes + longBytes <= limits.longRequestsPerConfinedProcess,
                confined.longBytes + longBytes <= limits.confinedLongRequests
            else { throw .tooManyLongRequests }
            perConfinedProcess[peer.processID, default: Use()].add(longBytes)
            return confined.add(longBytes)
        }
        let (ofProcess, ofUser) = (perProcess[peer.processID] ?? Use(), perUser[peer.userID] ?? Use())
        guard ofProcess.requests < limits.requestsPerProcess else {
            throw .tooManyRequests(ofProcess.requests, ofProcess: peer.processID)
        }
        guard ofUser.requests < limits.requestsPerUser else {
            throw .tooManyRequests(ofUser.requests, ofUser: peer.userID)
        }
        guard ofProcess.longBytes + longBytes <= limits.longRequestsPerProcess,
            ofUser.longBytes + longBytes <= limits.longRequestsPerUser,
            longBytesInAll + longBytes <= limits.longRequestsInAll
        else { throw .tooManyLongRequests }
        perProcess[peer.processID, default: Use()].add(longBytes)
        perUser[peer.userID, default: Use()].add(longBytes)
        longBytesInAll += longBytes
    }

    /// Balances ``begin(longBytes:of:isConfined:)``, with the same arguments.
    mutating func end(longBytes: Int, of peer: PeerCredentials, isConfined: Bool) {
        guard !isConfined else {
            perConfinedProcess[peer.processID]?.subtract(longBytes)
            if perConfinedProcess[peer.processID]?.requests == 0 { perConfinedProcess[peer.processID] = nil }
            return confined.subtract(longBytes)
        }
        perProcess[peer.processID]?.subtract(longBytes)
        if perProcess[peer.processID]?.requests == 0 { perProcess[peer.processID] = nil }
        perUser[peer.userID]?.subtract(longBytes)
        if perUser[peer.userID]?.requests == 0 { perUser[peer.userID] = nil }
        longBytesInAll -= longBytes
    }
}
