import AuthDaemon
import AuthHTTP
import AuthKeyring
import AuthModel
import AuthNetwork
import AuthOutbox
import AuthProviders
import AuthSealedFile
import AuthTokens
import AuthWire
import GLibRuntime
import Glibc

ProcessGuard.keepStandardDescriptors()

let profileCheck = ProfileCheckProgram.run { params in
    switch ProfileReader.read(params.text, source: params.file ?? "profile") {
    case .success: ProviderCheck(problems: [])
    case .failure(let failure): ProviderCheck(problems: failure.problems)
    }
}
if let profileCheck { exit(profileCheck) }

let parts = AgentAdapters(
    read: { places in
        switch SettingsFile.load(paths: places.files) {
        case .failure(let failure):
            return ConfigurationReading(configuration: nil, problems: failure.problems)
        case .success(let settings):
            let loaded = ProfileFolders.load(
                folders: places.folders, environments: settings.environments, defaults: settings.defaultEnvironments)
            return ConfigurationReading(
                configuration: AgentConfiguration(settings: settings, catalog: loaded.catalog),
                problems: loaded.problems)
        }
    },
    checkProfile: ProfileCheckProcess().check,
    desktop: {
        // GIO's network monitor may wait for NetworkManager; it has its own thread.
        let (thread, monitors) = (try GLibThread(), try GLibThread(name: "glib-monitor"))
        let bus = SessionBus.address(environment: Environment.value)
        return AgentAdapters.Desktop(
            secretService: { catalog in
                SecretServiceStore(on: thread, address: bus, providerTitle: { catalog[$0]?.title })
            },
            network: { SystemNetworkWatch(on: thread, monitors: monitors) },
            sleep: { SystemSleepWatch(on: thread, systemBus: SystemBus.address(environment: Environment.value)) },
            notices: { DesktopNotifier(on: thread, address: bus) })
    },
    transport: { settings, group in
        let client = try AsyncHTTPTransport(
            AsyncHTTPTransport.Configuration(
                version: Release.version, settings: settings, environment: Environment.all()),
            group: group)
        return AgentAdapters.Transport(client: client, notices: client.notices, close: { await client.shutdown() })
    },
    cryptography: SystemCryptography(),
    outbox: { path, keys in SQLiteOutbox(path: path, keys: keys) },
    sealedFile: { folder, source, loop in
        SealedFileStore(folder: DurableFolder(path: folder), source: source, loop: loop)
    },
    parcels: PassphraseBundles())

let program = AgentProgram(.ofThisProcess(), parts: parts)
// libdispatch requests a higher priority for its own thread. The system refuses that to ordinary users, and libdispatch logs
// it. No other thread runs yet, so the environment may be changed.
unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
// A task that the main thread starts or waits for would get such a priority too.
Task.detached(priority: .medium) { [program] in exit(await program.run().rawValue) }
while true { pause() }
