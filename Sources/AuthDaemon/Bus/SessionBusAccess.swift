package import AuthConcurrency

/// The session bus for ``BusService``, and whether the settings want it.
package struct SessionBusAccess: Sendable {
    let address: BusAddress
    let isOn: StateBroadcast<Bool>

    /// - Parameter address: as in `DBUS_SESSION_BUS_ADDRESS`; `nil`: unknown.
    /// - Returns: `nil` without an address of a Unix socket.
    package init?(address: String?, isOn: StateBroadcast<Bool>) {
        guard let address = address.flatMap(BusAddress.init) else { return nil }
        self.address = address
        self.isOn = isOn
    }
}

/// The Unix sockets in an address of a message bus (D-Bus specification, "Server Addresses"). Others are not used: they may
/// start programs, or wait for a name server.
struct BusAddress: Sendable, Equatable {
    let text: String
    /// The path of the first address that is a file.
    let socketPath: String?

    init?(_ text: String) {
        let entries = text.split(separator: ";").filter { entry in
            ["unix:path=", "unix:abstract="].contains { entry.hasPrefix($0) }
        }
        guard !entries.isEmpty else { return nil }
        self.text = entries.joined(separator: ";")
        socketPath = entries.lazy.compactMap(Self.path).first
    }

    private static func path(of entry: Substring) -> String? {
        let key = "unix:path="
        let path = entry.utf8.dropFirst(key.utf8.count).prefix { $0 != UInt8(ascii: ",") }
        guard entry.hasPrefix(key), let bytes = BusEscape.bytes(of: path, mark: UInt8(ascii: "%")) else { return nil }
        return bytes.first == UInt8(ascii: "/") ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
