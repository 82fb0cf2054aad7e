/// What a peer may ask of the agent at most. Each limit keeps one client from costing another anything.
public enum Limits {
    /// One line, request or answer, without its line feed: above the largest profile or body that is sensible in JSON,
    /// small enough that 256 connections cannot exhaust a machine.
    public static let lineBytes = 1 << 20

    /// For each line from its first byte, and for the first line from the connection: a peer that says nothing holds a
    /// descriptor, and one that stops in a line holds its bytes here, for no longer.
    public static let lineTime = Duration.seconds(10)

    /// Of one peer process: far above any real client, far below the descriptors a process may have.
    public static let connectionsPerProcess = 256

    /// Of one user, whatever the number of processes: the rest of the descriptors that systemd/authd.service allows.
    public static let connectionsPerUser = 12_000

    /// Of one line or answer that is made into values: one value takes up to a hundred bytes and a microsecond, and the
    /// largest sensible request or sign-in answer has some hundred.
    public static let jsonValues = 65_536

    /// Of one answer to a batch, and of all unfinished ones on a connection.
    public static let batchAnswerBytes = 4 << 20

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
