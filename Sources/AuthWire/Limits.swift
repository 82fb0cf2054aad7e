/// Limits for a client, so that it cannot slow down other clients.
public enum Limits {
    /// One line without its line feed. Larger than any sensible profile or body in JSON, and small enough that 256 connections
    /// cannot exhaust a machine.
    public static let lineBytes = 1 << 20

    /// For each line from its first byte, and for the first line from the connection. A silent peer holds a descriptor, and one
    /// that stops within a line holds its bytes, for no longer.
    public static let lineTime = Duration.seconds(10)

    /// For one peer process: far above any real client, far below the descriptors of a process.
    public static let connectionsPerProcess = 256

    /// For all processes of one user: within the descriptors that systemd/authd.service allows.
    public static let connectionsPerUser = 12_000

    /// JSON values in one line or response. A value takes up to a hundred bytes and a microsecond; a large request or sign-in
    /// response has a few hundred.
    public static let jsonValues = 65_536

    /// For one batch response, and for all unfinished ones on a connection.
    public static let batchAnswerBytes = 4 << 20

    /// Requests in flight on one connection. Each request of a batch counts.
    public static let requestsPerConnection = 128

    /// Streamed bodies and responses on one connection. Each may hold two pieces.
    public static let streamsPerConnection = 8

    /// A piece of a streamed body or response. In base64 it is a third longer, which still fits well in a line.
    public static let pieceBytes = 128 << 10

    /// The room of a socket for a body, if the system allows that much (socket(7), `wmem_max`). The kernel doubles it,
    /// for its own data about the bytes.
    package static let bodySocketBytes = 512 << 10

    /// Levels of arrays and objects. The reader calls itself for each level, and 128 fit in any thread's stack.
    public static let jsonNesting = 128

    /// For any `…_ms` key: longer than any wait, short enough that a sum of two cannot overflow.
    public static let longestDuration = Duration.seconds(366 * 86_400)

    /// For a request that waits for renewals in progress, here and on other hosts, and then changes every session.
    package static let changeOfAllSessions = Duration.seconds(600)

    /// For a new passphrase of the lock or of sealed files, in bytes. A guess takes tenths of a second, but somebody
    /// who has stolen the disk has unlimited time.
    public static let shortestPassphrase = 8

    /// For a peer's key or name that an error quotes.
    static let quotedCharacters = 64
}
