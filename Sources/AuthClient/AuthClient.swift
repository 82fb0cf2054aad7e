public import AuthWire
import Glibc

/// The agent, for programs written with `async`: calls share one connection, made at the first of them and again
/// whenever it was lost.
///
/// Nothing of it waits in Swift's thread pool: one thread of its own does. When the last reference goes, so do the
/// thread and the connection. A call under way when the connection is lost fails with `closed`; it is not repeated,
/// because the agent may have acted on it.
public final class AuthClient: Sendable {
    /// What a call may take unless it says otherwise: the agent gives a provider's whole answer 60 s.
    public static var defaultTimeout: Duration { .seconds(70) }

    public let socketPath: String
    private let loop: CallLoop

    /// - Parameter socket: the socket's path; `$AUTHD_SOCKET`, then the user's runtime folder, when nil.
    public init(socket: String? = nil) throws(AgentError) {
        socketPath = try SocketPath.resolve(flag: socket, environment: environmentValue, userID: getuid())
        loop = CallLoop(path: socketPath)
    }

    deinit {
        loop.close()
    }

    /// Ends all calls with `cancelled`, and the connection. A later call fails the same way.
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

    /// What happens from here on, beginning with a snapshot; each iteration has a connection of its own.
    public func events(topics: [Topic]? = nil, session: SessionName? = nil) -> AgentEvents {
        AgentEvents(path: socketPath, subscription: SubscribeParams(topics: topics, session: session))
    }
}

/// getenv(3); programs that change their environment in another thread must not do so while they make a client.
package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
