/// How etcd is reached, for sessions that several hosts share (authd.toml(5), `[etcd]`).
package struct EtcdSettings: Sendable, Equatable {
    /// `https://HOST:PORT`, or `http` on this machine. Hosts begin with different endpoints, and try the others in this
    /// order until one responds.
    package var endpoints: [String] = []
    /// A PEM file of the only CAs that are trusted; `nil`: the system's.
    package var caFile: String?
    /// A PEM file; `nil`: no client certificate.
    package var certificateFile: String?
    package var keyFile: String?
    /// `nil`: etcd has no users.
    package var user: String?
    /// An absolute path; `nil`: systemd's credential.
    package var passwordFile: String?
    /// What all keys begin with; `nil`: ``standardPrefix(userID:)``.
    package var prefix: String?

    package init() {}

    package static func standardPrefix(userID: UInt32) -> String { "/authd/\(userID)" }

    /// etcd separates users by the prefix: it begins with `/`, and no other prefix is the beginning of it by chance.
    package static func isPrefix(_ text: String) -> Bool {
        text.hasPrefix("/") && text.count > 1 && !text.hasSuffix("/") && text.utf8.count <= maxPrefixBytes
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Far above any path of users; keys are sent with every request.
    private static let maxPrefixBytes = 200
}
