import AuthAgent
import AuthFiles
import AuthModel
import AuthWire
import Glibc
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// `authd` from its command line to its exit status.
package struct AgentProgram: Sendable {
    private let arguments: AgentArguments
    private let parts: AgentAdapters

    package init(_ arguments: AgentArguments, parts: AgentAdapters) {
        self.arguments = arguments
        self.parts = parts
    }

    package func run() async -> ExitStatus {
        if arguments.check { return check() }
        do throws(StartRefusal) {
            try await serve()
            return .done
        } catch {
            AgentLog(level: .notice).logger().critical("\(error.message)")
            return error.status
        }
    }

    /// `--check`: one line a problem, on stdout as it is what was asked for.
    private func check() -> ExitStatus {
        let problems = read().problems
        for problem in problems { print(problem) }
        if problems.isEmpty { print("ok") }
        return problems.isEmpty ? .done : .badConfiguration
    }

    private func serve() async throws(StartRefusal) {
        try RootGuard.check(userID: geteuid(), environment: Environment.value)
        ProcessGuard.harden()
        // Before any thread is started: it changes the environment.
        let (inherited, kept) = try Self.translated { () throws(ListenDescriptors.Refusal) in
            try ListenDescriptors.receive()
        }
        let configuration = try configuration()
        let state = StateFolder.path(environment: Environment.value)
        let kind =
            arguments.store ?? configuration.settings.store ?? state.flatMap { StateFile.selectedStore(in: $0).load() }
            ?? .secretService
        let path = if let inherited { inherited.path } else { try socketPath(configuration.settings) }
        let locks = [try claim(path), kind == .secretService ? try claimKeyring() : nil]
        let socket = if let inherited { inherited } else { try Self.bind(path) }
        defer { withExtendedLifetime(locks) { socket.removeIfOurs() } }
        let log = AgentLog(level: arguments.logLevel ?? configuration.settings.level ?? .info)
        // Providers have a loop of their own: a long answer that is unpacked there keeps no client here waiting.
        let executor = try Self.translated { () throws(SystemFailure) in try SocketExecutor() }
        let outside = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = try transport(configuration.settings.http, outside, log)
        let desktop = try Self.translated(as: .internalError) { try parts.desktop() }
        let stores = StoreFactory(
            parts: parts, desktop: desktop, configuration: configuration, stateFolder: state, loop: outside.next())
        let store = try Self.store(kind, of: stores)
        let moved = HeldLocks()
        defer { withExtendedLifetime(moved) {} }
        let surroundings = stores.surroundings(
            wanted: { arguments.store ?? read().configuration?.settings.store },
            claimKeyring: { () throws(StartRefusal) in
                guard kind != .secretService else { return }
                try moved.acquire { () throws(StartRefusal) in try claimKeyring() }
            })
        // Sessions that end with the agent leave nothing behind for the next one.
        let place = kind == .memory ? nil : state
        let ports = AgentDependencies(
            store: store,
            outbox: parts.outbox(place.map { $0 + "/outbox.sqlite" }, store),
            transport: transport.client, network: desktop.network(), sleep: desktop.sleep(), desktop: desktop.notices(),
            clock: BootClock(),
            tools: SignInDependencies(
                cryptography: parts.cryptography, redirects: LoopbackRedirects(loop: outside.next()), keys: store,
                note: { [logger = log.logger()] in logger.notice("\($0)") }),
            signOuts: place.map { StateFile.signOuts(in: $0) },
            handover: DescriptorStore.systemd(inherited: kept, logger: log.logger()))
        let agent = Agent(
            configuration: configuration, read: read, checkProfile: parts.checkProfile,
            storeSurroundings: surroundings, ports: ports, socket: socket, executor: executor, log: log,
            fixedLevel: arguments.logLevel != nil, notifier: .systemd)
        let failure = await agent.serve()
        await transport.close()
        await executor.stop()
        try? await outside.shutdownGracefully()
        if let failure { throw StartRefusal(.internalError, "\(failure)") }
    }

    private func read() -> ConfigurationReading {
        let places = ConfigurationPaths(file: arguments.config, environment: Environment.value)
        if let file = arguments.config, unsafe access(file, R_OK) != 0 {
            let problem = ProfileProblem(
                file: file, line: 0, key: "", expected: "a file that can be read", found: SystemError.text(errno))
            return ConfigurationReading(configuration: nil, problems: [problem])
        }
        return parts.read(places)
    }

    private func configuration() throws(StartRefusal) -> AgentConfiguration {
        let reading = read()
        guard let configuration = reading.configuration else {
            throw StartRefusal(.badConfiguration, reading.problems.map(\.description).joined(separator: "; "))
        }
        let logger = AgentLog(level: .error).logger()
        let places = ConfigurationPaths(file: arguments.config, environment: Environment.value)
        for line in SkippedConfiguration.lines(reading.problems, in: places) { logger.error("\(line)") }
        return configuration
    }

    private static func store(_ kind: StoreKind, of stores: StoreFactory) throws(StartRefusal) -> MovableStore {
        do throws(StoreError) {
            return MovableStore(try stores.open(kind))
        } catch {
            throw StartRefusal(.badConfiguration, AgentError(error).message)
        }
    }

    private func socketPath(_ settings: Settings) throws(StartRefusal) -> String {
        do throws(AgentError) {
            return try SocketPath.resolve(
                flag: arguments.socket ?? settings.socket, environment: Environment.value, userID: geteuid())
        } catch {
            throw StartRefusal(.badConfiguration, error.message)
        }
    }

    /// One agent for a person's keyring, whatever its socket. `nil` where no folder is the person's own.
    private func claimKeyring() throws(StartRefusal) -> LockFile? {
        let usual = try? SocketPath.resolve(
            environment: { $0 == "AUTHD_SOCKET" ? nil : Environment.value($0) }, userID: geteuid())
        guard let usual else { return nil }
        return try claim(
            SocketPath.neighbour("keyring", of: usual),
            as: "with the same keyring: two would renew each other's tokens away")
    }

    /// The folder as it must be, and the lock in it.
    /// - Parameter role: what only one agent can be.
    private func claim(_ path: String, as role: String? = nil) throws(StartRefusal) -> LockFile {
        do throws(SocketFolder.Refusal) {
            try SocketFolder.prepare(PrivateFolder.parent(of: path))
        } catch {
            if case .failed = error { throw StartRefusal(.systemError, "\(error)") }
            throw StartRefusal(.refused, "\(error)")
        }
        do throws(LockFile.Refusal) {
            return try LockFile(beside: path)
        } catch {
            switch error {
            case .held(let processID):
                let who = processID.map { ", pid \($0)" } ?? ""
                throw StartRefusal(.alreadyRunning, "authd is already running\(who), \(role ?? "on " + path)")
            case .failed(let failure): throw StartRefusal(.systemError, "\(failure)")
            }
        }
    }

    private static func bind(_ path: String) throws(StartRefusal) -> SocketFile {
        try translated { () throws(SocketFile.Refusal) in try SocketFile.bind(path: path) }
    }

    private func transport(
        _ settings: HTTPSettings, _ group: any EventLoopGroup, _ log: AgentLog
    ) throws(StartRefusal) -> AgentAdapters.Transport {
        let transport = try Self.translated(as: .badConfiguration) { try parts.transport(settings, group) }
        let logger = log.logger()
        for notice in transport.notices { logger.warning("\(notice)") }
        return transport
    }

    private static func translated<Value>(
        as status: ExitStatus = .systemError, _ work: () throws -> Value
    ) throws(StartRefusal) -> Value {
        do {
            return try work()
        } catch {
            throw StartRefusal(status, "\(error)")
        }
    }
}

extension Settings {
    fileprivate var level: Logger.Level? { logLevel.flatMap(Logger.Level.init(rawValue:)) }
}
