/// What is released together: the agent, the command and the library.
public enum Release {
    public static let version = "0.1.0"
    /// Of the socket's protocol: grows when something that clients rely on changes.
    public static let protocolNumber = 1
}
