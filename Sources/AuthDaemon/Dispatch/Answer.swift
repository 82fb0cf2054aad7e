import AuthWire

/// How a request is answered.
enum Answer {
    /// From memory, on the event loop.
    case now(Result<JSON, AgentError>)
    /// From memory, where the result is kept as JSON text.
    case rendered([UInt8])
    /// By work that waits for something, within a limit.
    case later(within: Duration, Job.Work)
    case subscribe(SubscribeParams)
    case unsubscribe(SubscribeParams)
}
