import AuthAgent
import AuthWire

/// How a request is answered.
enum RequestHandling {
    /// From memory, on the loop.
    case now(Result<JSON, AgentError>)
    /// From memory, where the result is kept as JSON text.
    case rendered([UInt8])
    /// By work that waits for something, within a limit.
    case later(within: Duration, RequestTask.Work)
    /// By a stream that lives until its task ends.
    case open(StreamOpening)
    /// By a stream of this connection.
    case onStream(String, @Sendable (APIStream) -> RequestHandling)
    case subscribe(SubscribeParams)
    case unsubscribe(SubscribeParams)
}

/// A call whose body or answer is streamed.
struct StreamOpening: Sendable {
    /// The client's.
    let name: String
    /// Once, with what answers the call.
    let make: @Sendable (_ tell: @escaping APIStream.Tell) throws(AgentError) -> APIStream
    /// Returns when it has ended.
    let run: @Sendable (APIStream) async -> Void
}
