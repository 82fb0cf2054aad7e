/// Where a client is served, which decides what it may do.
package enum ListenerName: String, Sendable, CaseIterable {
    case api
    /// Its clients are confined (Docs/decisions/access.md).
    case extra
    /// The session bus. It is not a socket of the agent.
    case dbus

    /// The names of descriptors from systemd. Without FileDescriptorName= it is the name of the socket unit.
    package init?(descriptor name: String) {
        switch name {
        case "api", "authd.socket": self = .api
        case "extra", "authd-extra.socket": self = .extra
        default: return nil
        }
    }
}
