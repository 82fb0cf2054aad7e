import AuthWire

/// Where a client is served, which decides what it may do.
///
/// Each name but `api` and `dbus` is that of a socket for limited access, whose clients are confined
/// (Docs/decisions/access.md): the extra socket, or the socket of a unit that the user has added.
package struct ListenerName: RawRepresentable, Sendable, Hashable, Comparable {
    package let rawValue: String

    package static let api = ListenerName("api")
    package static let extra = ListenerName("extra")
    /// The session bus. It is not a socket of the agent.
    package static let dbus = ListenerName("dbus")

    /// In bytes. A name is part of file names, of rule names and of each line of the audit log.
    package static let longest = 32

    /// The rule, for messages.
    package static let rule = "1 to \(longest) of a-z, 0-9 and '-', beginning with a letter"

    /// For messages about a rule or a request that names one.
    package static let expected = "api, extra, dbus or the FileDescriptorName= of a socket unit, \(rule)"

    /// A word for all limited listeners, in rules.
    package static let limitedWord = "limited"

    /// What sd_listen_fds_with_names(3) returns for descriptors without a name, and the word of rules.
    private static let reserved: Set<String> = ["unknown", "stored", "connection", limitedWord]

    /// `nil` if the text breaks the rule, is a name that systemd itself gives, or the word of rules.
    package init?(rawValue: String) {
        let bytes = rawValue.utf8
        guard let first = bytes.first, bytes.count <= Self.longest, Self.letters.contains(first),
            bytes.allSatisfy({ Self.letters.contains($0) || Self.digits.contains($0) || $0 == UInt8(ascii: "-") }),
            !Self.reserved.contains(rawValue)
        else { return nil }
        self.rawValue = rawValue
    }

    /// The listener of a descriptor from systemd. Without FileDescriptorName= it has the name of the socket unit.
    package init?(descriptor name: String) {
        switch name {
        case "authd.socket": self = .api
        case "authd-extra.socket": self = .extra
        default:
            guard let listener = ListenerName(rawValue: name), listener != .dbus else { return nil }
            self = listener
        }
    }

    /// The listener of a table `[listener.NAME]`.
    package init?(table name: String) {
        guard let listener = ListenerName(rawValue: name), listener.isLimited else { return nil }
        self = listener
    }

    private init(_ name: String) {
        rawValue = name
    }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Whether all its clients are confined.
    package var isLimited: Bool { self != .api && self != .dbus }

    /// The listener whose table says what confined clients may do here. `[listener.extra]` also applies to those in a
    /// sandbox at the main socket and on the session bus.
    package var boundary: ListenerName { isLimited ? self : .extra }

    package static func < (left: ListenerName, right: ListenerName) -> Bool { left.rawValue < right.rawValue }
}
