import AuthDaemon
import AuthFiles
import AuthModel
import AuthSockets
import AuthWire
import Glibc
import Logging

/// What the agent claims before it has a second thread: settings, locks and sockets.
struct Claims: Sendable {
    let configuration: AgentConfiguration
    let storeKind: StoreKind
    /// `nil` if the environment has no home.
    let stateFolder: String?
    let locks: AgentLocks
    let socket: SocketFile
    /// Those for limited access from the service manager.
    let limited: [ListenerName: SocketFile]
    let extra: ExtraSocket
    /// Descriptors of the previous run.
    let handedOver: [ListenDescriptors.Given]
    let program: ProgramFile?
    let sandbox: FileSandbox
}

extension Composition {
    /// Must be called while the process has one thread: it changes the environment, and restricts the process to its files.
    func claim() throws(StartRefusal) -> Claims {
        try RootGuard.check(userID: geteuid(), environment: Environment.value)
        let program = ProgramFile.ofThisProcess()
        ProcessGuard.harden()
        let received = try StartRefusal.wrapping { try ListenDescriptors.receive() }
        ProcessGuard.closeDescriptors(from: received.end)
        let errors = AgentLog(level: .error).logger()
        for refusal in received.refusals { errors.error("\(refusal)") }
        // Before there are secrets in memory, which a child would have a copy of.
        var sandbox = try FileSandbox(environment: Environment.value)
        let inherited = received.sockets[.api]
        let configuration = try reader.configuration()
        let stateFolder = StateFolder.path(environment: Environment.value)
        let storeKind =
            reader.options.store ?? configuration.settings.store
            ?? stateFolder.flatMap { StateFile.selectedStore(in: $0).load() } ?? .secretService
        let path = if let inherited { inherited.path } else { try reader.socketPath(configuration.settings) }
        let locks = try AgentLocks(socket: path)
        if storeKind == .secretService { try locks.claimKeyring() }
        let socket =
            if let inherited { inherited } else { try StartRefusal.wrapping { try SocketFile.bind(path: path) } }
        let limited = received.sockets.filter { $0.key.isLimited }
        let extra = ExtraSocket(beside: path)
        // A program in a sandbox may have changed its folder, and must not keep authd from starting.
        do throws(StartRefusal) {
            try extra.listen(at: try reader.extraSocketPath(configuration.settings, beside: limited))
        } catch {
            errors.error("The extra socket is not open: \(error.message)")
        }
        if sandbox.state == .on {
            try sandbox.restrict(
                to: fileRules(
                    configuration, stateFolder: stateFolder, socket: path, program: program,
                    mayUseKeyring: storeKind == .secretService || reader.options.store == nil))
        }
        sandbox.identifyClients()
        return Claims(
            configuration: configuration, storeKind: storeKind, stateFolder: stateFolder, locks: locks, socket: socket,
            limited: limited, extra: extra, handedOver: received.others, program: program, sandbox: sandbox)
    }

    private func fileRules(
        _ configuration: AgentConfiguration, stateFolder: String?, socket: String, program: ProgramFile?,
        mayUseKeyring: Bool
    ) -> FileRules {
        // The lock of the keyring is beside the usual socket. Sessions are not moved from a store that the command line
        // selects.
        let usual = mayUseKeyring ? reader.usualSocketPath : nil
        return FileRules(
            FilePlaces(
                configuration, read: reader.paths, program: program?.path, stateFolder: stateFolder,
                sockets: [socket] + [usual].compactMap(\.self),
                extraSocket: reader.likelyExtraSocket(configuration.settings),
                environment: Environment.value))
    }
}
