package import AuthModel
package import NIOCore

/// The adapters that ``AgentProgram`` is put together with; `main.swift` is the one place that knows them all.
package struct AgentAdapters: Sendable {
    /// What lives on the person's desktop.
    package struct Desktop: Sendable {
        package var secretService: @Sendable (ProfileCatalog) -> any SessionStore & KeyStore
        package var network: @Sendable () -> any NetworkWatch
        package var sleep: @Sendable () -> any SleepWatch
        package var notices: @Sendable () -> any Notifier

        package init(
            secretService: @escaping @Sendable (ProfileCatalog) -> any SessionStore & KeyStore,
            network: @escaping @Sendable () -> any NetworkWatch,
            sleep: @escaping @Sendable () -> any SleepWatch,
            notices: @escaping @Sendable () -> any Notifier
        ) {
            self.secretService = secretService
            self.network = network
            self.sleep = sleep
            self.notices = notices
        }
    }

    /// An HTTP client, and how it is closed when nobody needs it any more.
    package struct Transport: Sendable {
        package var client: any HTTPTransport
        /// What it could not do as the environment wants it, for the log.
        package var notices: [String]
        package var close: @Sendable () async -> Void

        package init(client: any HTTPTransport, notices: [String], close: @escaping @Sendable () async -> Void) {
            self.client = client
            self.notices = notices
            self.close = close
        }
    }

    package var read: @Sendable (ConfigurationPaths) -> ConfigurationReading
    package var checkProfile: AgentServices.CheckProfile
    /// Called once, when threads may be started.
    package var desktop: @Sendable () throws -> Desktop
    package var transport: @Sendable (HTTPSettings, any EventLoopGroup) throws -> Transport
    package var cryptography: any Cryptography
    /// - Parameter path: of its file; `nil`: in memory.
    package var outbox: @Sendable (_ path: String?, _ keys: any KeyStore) -> any OutboxStore
    /// - Parameter loop: for its clock.
    package var sealedFile: SealedFile
    package var parcels: any BundleSealing

    package typealias SealedFile =
        @Sendable (
            _ folder: String, _ source: SealingSource, _ loop: any EventLoop
        ) -> any SessionStore & KeyStore

    package init(
        read: @escaping @Sendable (ConfigurationPaths) -> ConfigurationReading,
        checkProfile: @escaping AgentServices.CheckProfile,
        desktop: @escaping @Sendable () throws -> Desktop,
        transport: @escaping @Sendable (HTTPSettings, any EventLoopGroup) throws -> Transport,
        cryptography: any Cryptography,
        outbox: @escaping @Sendable (_ path: String?, _ keys: any KeyStore) -> any OutboxStore,
        sealedFile: @escaping SealedFile, parcels: any BundleSealing
    ) {
        self.read = read
        self.checkProfile = checkProfile
        self.desktop = desktop
        self.transport = transport
        self.cryptography = cryptography
        self.outbox = outbox
        self.sealedFile = sealedFile
        self.parcels = parcels
    }
}
