import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

enum RequestHandling {
    /// From memory, on the loop.
    case now(Result<JSON, AgentError>)
    /// From memory, as JSON text.
    case rendered([UInt8])
    /// From memory, or with this work if something has to be waited for first.
    case live(LiveToken, RequestTask.Work)
    /// With work that waits, within the caller's time limit; `nil`: within the usual one. It begins when the store has been read
    /// once. The trail records the result that is sent. A lock of the agent ends it.
    case later(within: Duration?, RequestTask.Work, AuditTrail? = nil, endsAtLock: Bool = true)
    /// With a stream that lives until its task ends.
    case open(StreamOpening)
    /// With a stream of this connection.
    case onStream(String, @Sendable (APIStream) -> RequestHandling)
    case subscribe(SubscribeParams)
    case unsubscribe(SubscribeParams)

    /// The same handling of a request that a locked agent serves, too.
    func continuingWhenLocked() -> RequestHandling {
        guard case .later(let limit, let work, let trail, _) = self else { return self }
        return .later(within: limit, work, trail, endsAtLock: false)
    }
}

/// A call with a streamed body or response.
struct StreamOpening: Sendable {
    /// The client's name for the stream.
    let name: String
    /// What the rules decided about.
    var request: AccessRequest?
    /// Called once; `send` receives the response of the call.
    let make: @Sendable (_ send: @escaping APIStream.Respond) throws(AgentError) -> APIStream
    /// Returns when the stream has ended.
    let run: @Sendable (APIStream) async -> Void

    /// The same opening with other errors.
    func changingErrors(_ change: @escaping @Sendable (AgentError) -> AgentError) -> StreamOpening {
        StreamOpening(
            name: name, request: request,
            make: { [make] send throws(AgentError) in
                do throws(AgentError) {
                    return try make { send($0.mapError(change)) }
                } catch {
                    throw change(error)
                }
            }, run: run)
    }
}
