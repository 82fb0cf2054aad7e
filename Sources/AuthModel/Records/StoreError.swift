/// Why a store did not do it. Each case asks something else of the caller.
package enum StoreError: Error, Sendable, Equatable {
    /// It exists and is closed; it goes on by itself once a person unlocks it.
    case locked
    /// The same, and the person did not unlock it when they were asked.
    case dismissed
    /// It is asking the user something; it goes on by itself when it has an answer.
    case waiting
    /// It is closed until a client brings its passphrase (``SealedStore``).
    case sealed
    /// There is no such service on this machine or bus.
    case missing(reason: String)
    /// It, or the person, said no.
    case denied(reason: String)
    /// No answer within the limit.
    case notAnswering(after: Duration)
    /// It answered with an error, or with what is no record of ours.
    case failed(reason: String)
}
