/// The agent's end of a socket that a client writes a body to. The kernel holds the bytes, up to a limit.
package protocol BodySocket: AnyObject, Sendable {
    /// Whether there are bytes, or the client has closed its end.
    var isReady: Bool { get }

    /// Reads as much as there is and fits, without waiting.
    /// - Returns: `nil` if there is nothing now, and 0 at the end: the client has closed its end.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int?

    /// Calls `notify` once the socket is ready or closed. A later call replaces it.
    func whenReady(_ notify: @escaping @Sendable () -> Void)

    /// Closes the agent's end: the client's next write fails (EPIPE).
    func close()
}

/// The agent's end of a socket from which a client reads the body of a response. The kernel holds the bytes, up to a limit.
package protocol BodyOutput: AnyObject, Sendable {
    /// Writes as much as fits, without waiting.
    /// - Returns: the number of bytes, 0 if nothing fits now, and `nil` if the client has closed its end.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int?

    /// Calls `notify` once there is room, or once either end is closed. A later call replaces it.
    func whenReady(_ notify: @escaping @Sendable () -> Void)

    /// Closes the agent's end: the client reads what has been written, and then the end.
    func close()
}
