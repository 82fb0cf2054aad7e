package import AuthWire

/// Settings of the user or administrator (authd.toml(5)); what is not set is `nil`, empty or the built-in value.
package struct Settings: Sendable, Equatable {
    /// `nil`: the keyring.
    package var store: StoreKind?
    /// `nil`: systemd's credential if there is one, else a passphrase.
    package var sealedKey: SealedKey?
    /// `nil`: there is no section `[etcd]`.
    package var etcd: EtcdSettings?
    /// An absolute path.
    package var socket: String?
    package var logLevel: String?
    /// Other users who may connect; if empty, no other user may, not even root.
    package var allowedUserIDs: [UInt32] = []
    /// For clients of sockets for limited access and in sandboxes.
    package var listeners = ListenerTables()
    package var http = HTTPSettings()
    /// Environments that are added to a profile or replace its own, by provider.
    package var environments: [String: [SettingsEntry<ProviderEnvironment>]] = [:]
    /// The default environment, by provider.
    package var defaultEnvironments: [String: SettingsEntry<String>] = [:]
    /// Until the user chooses another one.
    package var defaultSession: SessionName?
    /// The rule with the longest matching path is used.
    package var folders: [FolderRule] = []
    /// They run in this order.
    package var hooks: [Hook] = []
    /// For cached API responses in memory; 0 disables the cache.
    package var apiCacheBytes = Self.defaultAPICacheBytes
    /// How many sign-ins the programs of one unit may begin in an hour.
    package var signInsPerHour = Self.defaultSignInsPerHour
    /// Whether notices are shown on the desktop.
    package var notifications = true
    /// Whether queued writes and streams wait while the network is metered.
    package var waitsIfMetered = false
    /// Whether authd serves clients of the session bus.
    package var dbus = true
    package var lock = LockSettings()
    package var presence = PresenceSettings()

    /// The address of the user's Client ID Metadata Document.
    package var clientDocument: String?

    package static let defaultAPICacheBytes = 16 << 20
    package static let defaultSignInsPerHour = 60

    package init() {}
}

/// What opens the sealed files.
package enum SealedKey: Sendable, Equatable {
    case credential, passphrase
    /// An absolute path.
    case file(String)
}

/// A value from a settings file, with its place there for error messages.
package struct SettingsEntry<Value: Sendable & Equatable>: Sendable, Equatable {
    package var value: Value
    package var file: String
    /// From 1.
    package var line: Int
    package var key: String

    package init(_ value: Value, file: String, line: Int, key: String) {
        self.value = value
        self.file = file
        self.line = line
        self.key = key
    }
}
