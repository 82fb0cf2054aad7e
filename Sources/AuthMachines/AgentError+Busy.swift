package import AuthWire

extension AgentError {
    /// When a request may be repeated that was refused because too much was in progress. Any of it may end at any time; this
    /// keeps clients from asking in a loop.
    package static let retryWhenBusy = Duration.seconds(1)
}
