import CSecret

/// Where the person's message bus is.
package enum SessionBus {
    /// `DBUS_SESSION_BUS_ADDRESS`, else the socket that systemd and dbus-user-session put into the runtime folder.
    /// Never one that would have to be started: a second bus has nobody's keyring on it.
    package static func address(environment: (String) -> String?) -> String? {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS"), !address.isEmpty { return address }
        guard let folder = environment("XDG_RUNTIME_DIR"), folder.hasPrefix("/") else { return nil }
        guard let escaped = g_dbus_address_escape_value(folder + "/bus") else { return nil }
        defer { g_free(escaped) }
        return "unix:path=" + String(cString: escaped)
    }

    /// Where the bus of such an address will have its socket, if that is a file (D-Bus specification, "Unix Domain
    /// Sockets").
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
