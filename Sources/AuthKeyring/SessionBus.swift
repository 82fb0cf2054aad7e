import CSecret

/// The address of the user's message bus.
package enum SessionBus {
    /// `DBUS_SESSION_BUS_ADDRESS`, else the socket of systemd and dbus-user-session in the runtime folder. A bus is never
    /// started: a second bus has no keyring.
    package static func address(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS"), !address.isEmpty { return address }
        guard let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") else { return nil }
        guard let escaped = g_dbus_address_escape_value(folder + "/bus") else { return nil }
        defer { g_free(escaped) }
        return "unix:path=" + String(cString: escaped)
    }

    /// The socket of that address, if it is a file (D-Bus specification, "Unix Domain Sockets").
    static func socketPath(of address: String) -> String? {
        for entry in address.split(separator: ";") where entry.hasPrefix("unix:path=") {
            let value = String(entry.dropFirst("unix:path=".count).prefix { $0 != "," })
            guard let path = g_uri_unescape_string(value, nil) else { continue }
            defer { g_free(path) }
            return String(cString: path)
        }
        return nil
    }
}
