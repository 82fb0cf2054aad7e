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
