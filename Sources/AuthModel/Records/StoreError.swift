/// Why a store failed. Each case requires something else of the caller.
package enum StoreError: Error, Sendable, Equatable {
    /// The store continues by itself when the user unlocks it.
    case locked
    /// The user dismissed the request to unlock it.
    case dismissed
    /// The store is asking the user something, and continues by itself after an answer.
    case waiting
    /// Closed until a client sends its passphrase (``SealedStore``).
    case sealed
    /// There is no such service on this machine or bus.
    case missing(reason: String)
    /// The store or the user refused.
    case denied(reason: String)
    /// There was no response within the limit.
    case notAnswering(after: Duration)
    /// The store returned an error or an invalid record.
    case failed(reason: String)
    /// The cluster that the sessions are in has a fault.
    case cluster(ClusterFault)
}

extension StoreError {
    /// Returns what the body returns. Its error becomes the reason of a failure.
    package static func wrapping<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(StoreError) -> Value {
        do { return try body() } catch { throw .failed(reason: "\(error)") }
    }
}
