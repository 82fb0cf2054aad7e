import AuthAgent
import AuthMachines
import AuthWire

enum RequestHandling {
    /// From memory, on the loop.
    case now(Result<JSON, AgentError>)
    /// From memory, as JSON text.
    case rendered([UInt8])
    /// From memory.
    case live(LiveToken)
    /// With work that waits, within the caller's time limit; `nil`: within the usual one. It begins when the store has been read
    /// once. The trail records the result that is sent.
    case later(within: Duration?, RequestTask.Work, AuditTrail? = nil)
    /// With a stream that lives until its task ends.
    case open(StreamOpening)
    /// With a stream of this connection.
    case onStream(String, @Sendable (APIStream) -> RequestHandling)
    case subscribe(SubscribeParams)
    case unsubscribe(SubscribeParams)
}

/// A call with a streamed body or response.
struct StreamOpening: Sendable {
    /// The client's name for the stream.
    let name: String
    /// Called once; `send` receives the response of the call.
    let make: @Sendable (_ send: @escaping APIStream.Respond) throws(AgentError) -> APIStream
    /// Returns when the stream has ended.
    let run: @Sendable (APIStream) async -> Void
}
