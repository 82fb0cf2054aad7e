package import AuthWire

extension AgentError {
    /// How long a client waits before it repeats a request that was refused as busy. It prevents requests in a loop.
    package static let retryWhenBusy = Duration.seconds(1)
}
