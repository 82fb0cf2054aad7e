/// What a peer may ask of the agent at most. Each limit keeps one client from costing another anything.
public enum Limits {
    /// One line, request or answer, without its line feed: above the largest profile or body that is sensible in JSON,
    /// small enough that 256 connections cannot exhaust a machine.
    public static let lineBytes = 1 << 20

    /// For a connection's first line: a peer that connects and says nothing holds a descriptor for no longer.
    public static let firstLine = Duration.seconds(10)

    /// Of one peer process: far above any real client, far below the descriptors a process may have.
    public static let connectionsPerProcess = 256

    /// Under way on one connection, a batch counting each of its own.
    public static let requestsPerConnection = 128

    /// Bodies and answers that are streamed at once on one connection: each may hold two pieces here.
    public static let streamsPerConnection = 8

    /// Of a piece of an answer that is streamed: a third longer in base64, still far from a line's end.
    public static let pieceBytes = 128 << 10

    /// Levels of arrays and objects: the reader calls itself once for each, and 128 fit into any thread's stack.
    public static let jsonNesting = 128

    /// Of any `…_ms` key: longer than anything waits, short enough that no sum of two overflows.
    public static let longestDuration = Duration.seconds(366 * 86_400)

    /// Of a key or name of the peer's own that an error repeats.
    static let quotedCharacters = 64
}
