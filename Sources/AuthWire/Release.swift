/// The release of the agent, the command and the library.
public enum Release {
    public static let version = "0.1.0"
    /// The protocol's version. It increases if something that clients depend on changes.
    public static let protocolNumber = 2
}
