import AuthDaemon
import AuthEtcd
import AuthHTTP
import AuthModel
import AuthSealedFile
import AuthWire
import Glibc
import NIOCore
import Synchronization

/// The connections to etcd, as the settings were at the start. They are created when a store needs them.
final class EtcdConnection: Sendable {
    /// etcd is on the same network, and a call has to end within seconds.
    private static let connectTimeout = Duration.seconds(2)
    /// A watch with a dead connection reports no changes of other hosts, so it fails after 11 s.
    private static let keepAlive = TransportLimits.KeepAlive(silence: 5, interval: 2, probes: 3)

    private let settings: EtcdSettings?
    private let group: any EventLoopGroup
    private let transport = Mutex<AsyncHTTPTransport?>(nil)

    init(_ settings: EtcdSettings?, group: any EventLoopGroup) {
        self.settings = settings
        self.group = group
    }

    /// - Parameter folder: for what stays on this host.
    func store(in folder: String, sealedBy source: SealingSource) throws(StoreError) -> EtcdStore {
        guard let settings else {
            throw .failed(reason: "the settings have no section [etcd] with its endpoints: see authd.toml(5)")
        }
        let user = settings.user.map { name in
            EtcdUser(name: name, password: KeyFile.password(settings.passwordFile, environment: Environment.value))
        }
        var configuration = EtcdStore.Configuration(
            endpoints: settings.endpoints, prefix: settings.prefix ?? EtcdSettings.standardPrefix(userID: geteuid()),
            user: user, hostName: Self.hostName())
        configuration.spreads = true
        return EtcdStore(
            configuration, local: SealedFileStore(folder: DurableFolder(path: folder), source: source),
            transport: try opened(settings), clock: BootClock())
    }

    func shutdown() async {
        await transport.withLock { $0 }?.shutdown()
    }

    private func opened(_ settings: EtcdSettings) throws(StoreError) -> AsyncHTTPTransport {
        let configuration = try Self.configuration(settings)
        let made: Result<AsyncHTTPTransport, StoreError> = transport.withLock { transport in
            if let transport { return .success(transport) }
            do throws(TransportSettingsError) {
                let new = try AsyncHTTPTransport(configuration, group: group)
                transport = new
                return .success(new)
            } catch {
                return .failure(.failed(reason: error.description))
            }
        }
        return try made.get()
    }

    private static func configuration(
        _ settings: EtcdSettings
    ) throws(StoreError) -> AsyncHTTPTransport.Configuration {
        // A proxy is for the Internet, and etcd is not there.
        var configuration = AsyncHTTPTransport.Configuration(
            version: Release.version, proxy: "none", extraCAFile: settings.caFile, environment: Environment.all())
        configuration.limits.connect = connectTimeout
        configuration.limits.keepAlive = keepAlive
        configuration.trustsOnlyExtraCA = settings.caFile != nil
        configuration.offersHTTP2 = false
        if let certificate = settings.certificateFile, let key = settings.keyFile {
            configuration.identity = ClientCertificate(
                certificates: try KeyFile.readPublic(certificate), key: try KeyFile.read(key),
                setting: "etcd.certificate_file")
        }
        return configuration
    }

    /// What other hosts show of this one.
    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
