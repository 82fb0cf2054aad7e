/// Limits for the clients of a front, so that none of them can exhaust it.
package struct FrontLimits: Sendable {
    /// Names and values of all header fields. Servers accept 8 to 64 KiB.
    package static let headBytes = 64 << 10
    package static let headFields = 256

    /// SO_RCVBUF of a connection to a port; the kernel takes twice as much, for its own data. This is what a client that ends its
    /// side can have in memory at once. A fixed one ends the kernel's own choice, which may be 32 MiB (tcp(7), `tcp_rmem`).
    package static let receiveBytes = 256 << 10

    /// The most that is read from a connection at once. Each read leads to a write, which wakes the server: long bodies
    /// are passed on faster in large pieces (Docs/decisions/proxy.md).
    package static let readBytes = 256 << 10

    /// At once. Each takes some 20 KiB, and up to 400 KiB while a body is passed on. After a long body, NIO keeps the
    /// buffer for reads (``readBytes``) until the connection ends. All connections fit into `MemoryMax=` of the units,
    /// not counting what the kernel buffers.
    package var connections = 256
    /// From the connection to the end of the first request's head. A client sends it at once.
    package var headTime = Duration.seconds(10)
    /// Between two requests of a connection.
    package var idleTime = Duration.seconds(75)
    /// How long a client may neither send the rest of a body nor accept any of a response, as in other servers.
    package var stallTime = Duration.seconds(60)
    /// After the last response of a connection, for the client to read it while it still sends. What it sends is dropped.
    package var lingerTime = Duration.seconds(2)
    /// How often to check that a client of a port is still there after it has shut down its side and waits for its
    /// response: TCP does not report that such a client has closed the connection.
    package var presenceInterval = Duration.seconds(1)
    /// For requests in progress when the front ends.
    package var drainTime = Duration.seconds(5)

    package init() {}
}
