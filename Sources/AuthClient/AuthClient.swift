public import AuthConnection
public import AuthWire
import Glibc

/// A client for programs with `async`. Calls share one connection, which is opened for the first call and again after it is
/// lost.
///
/// It waits in a separate thread, not in Swift's thread pool. The thread and the connection end with the last reference.
/// If the connection is lost, calls in flight fail with `closed`. They are not repeated, because the agent may have performed
/// them.
public final class AuthClient: Sendable {
    /// The default time limit of a call.
    public static var defaultTimeout: Duration { ClientLimits.callTimeout }

    public let socketPath: String
    private let loop: CallLoop
    private let requiresOwnAgent: Bool

    /// - Parameter socket: the socket's path; `nil` for `$AUTHD_SOCKET`, then the user's runtime folder.
    public init(socket: String? = nil) throws(AgentError) {
        socketPath = try SocketPath.resolve(flag: socket, environment: environmentValue, userID: getuid())
        requiresOwnAgent = false
        loop = CallLoop(path: socketPath, requiresOwnAgent: false)
    }

    /// - Parameter requiresOwnAgent: whether every call and subscription fails if the agent runs neither as this user nor as root
    ///   (``ClientError/otherUser(userID:)``).
    package init(socket: String?, requiresOwnAgent: Bool) throws(AgentError) {
        socketPath = try SocketPath.resolve(flag: socket, environment: environmentValue, userID: getuid())
        self.requiresOwnAgent = requiresOwnAgent
        loop = CallLoop(path: socketPath, requiresOwnAgent: requiresOwnAgent)
    }

    deinit {
        loop.close()
    }

    /// Closes the connection. All calls, and later ones, fail with `cancelled`.
    public func close() {
        loop.close()
    }

    /// The result of any method.
    public func call<Method: AgentMethod>(
        _ method: Method, timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> Method.Result {
        try await decoded(result(of: method, timeout: timeout))
    }

    /// The same as the agent sent it.
    public func result(
        of method: some AgentMethod, timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> JSON {
        try await loop.call(method, deadline: .after(timeout))
    }

    /// Events from now on, after a snapshot. Each iterator has a separate connection.
    public func events(topics: [Topic]? = nil, session: SessionName? = nil) -> AgentEvents {
        AgentEvents(
            path: socketPath, requiresOwnAgent: requiresOwnAgent,
            subscription: SubscribeParams(topics: topics, session: session))
    }
}
