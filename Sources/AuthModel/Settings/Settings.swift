package import AuthWire

/// What a person or an administrator has set (authd.toml(5)); what is not set is `nil`, empty or the built-in value.
package struct Settings: Sendable, Equatable {
    /// `nil`: the keyring.
    package var store: StoreKind?
    /// `nil`: systemd's credential where there is one, else a passphrase.
    package var sealedKey: SealedKey?
    /// An absolute path.
    package var socket: String?
    package var logLevel: String?
    /// Other users than our own who may connect; empty, nobody else may, root included.
    package var allowedUserIDs: [UInt32]
    package var http: HTTPSettings
    /// By the provider's name: environments to add to its profile, or to put in place of those of the same name.
    package var environments: [String: [AddedEnvironment]]
    /// By the provider's name: which environment a sign-in takes when it names none.
    package var defaultEnvironments: [String: ChosenEnvironment]
    /// Until a person chooses another one.
    package var defaultSession: SessionName?
    /// The longest path that holds a folder wins.
    package var folders: [FolderRule]
    /// For answers of providers' APIs that are kept in memory; 0 keeps none.
    package var apiCacheBytes: Int
    /// Whether the desktop shows what only a person can do something about.
    package var notifications: Bool

    package static let defaultAPICacheBytes = 16 << 20

    package init(
        store: StoreKind? = nil, sealedKey: SealedKey? = nil, socket: String? = nil, logLevel: String? = nil,
        allowedUserIDs: [UInt32] = [],
        http: HTTPSettings = HTTPSettings(), environments: [String: [AddedEnvironment]] = [:],
        defaultEnvironments: [String: ChosenEnvironment] = [:], defaultSession: SessionName? = nil,
        folders: [FolderRule] = [], apiCacheBytes: Int = Self.defaultAPICacheBytes,
        notifications: Bool = true
    ) {
        self.store = store
        self.sealedKey = sealedKey
        self.socket = socket
        self.logLevel = logLevel
        self.allowedUserIDs = allowedUserIDs
        self.http = http
        self.environments = environments
        self.defaultEnvironments = defaultEnvironments
        self.defaultSession = defaultSession
        self.folders = folders
        self.apiCacheBytes = apiCacheBytes
        self.notifications = notifications
    }
}

/// What opens the sealed files.
package enum SealedKey: Sendable, Equatable {
    case credential, passphrase
    /// An absolute path.
    case file(String)
}

/// An environment that a settings file adds, and where it says so.
package struct AddedEnvironment: Sendable, Equatable {
    package var environment: ProviderEnvironment
    package var file: String
    /// From 1.
    package var line: Int
    package var key: String

    package init(environment: ProviderEnvironment, file: String, line: Int, key: String) {
        self.environment = environment
        self.file = file
        self.line = line
        self.key = key
    }
}

/// An environment that a settings file makes the default, and where it says so.
package struct ChosenEnvironment: Sendable, Equatable {
    package var name: String
    package var file: String
    /// From 1.
    package var line: Int
    package var key: String

    package init(name: String, file: String, line: Int, key: String) {
        self.name = name
        self.file = file
        self.line = line
        self.key = key
    }
}
