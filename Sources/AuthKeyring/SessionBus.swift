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
}
