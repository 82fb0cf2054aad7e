import AuthAgent
import AuthConcurrency
import AuthFiles
import AuthModel
import AuthWire
import NIOCore

/// The stores that there could be. Never a weaker one than was asked for.
struct StoreFactory: Sendable {
    let parts: AgentAdapters
    let desktop: AgentAdapters.Desktop
    let configuration: AgentConfiguration
    /// `nil` where the environment names no home.
    let stateFolder: String?
    let loop: any EventLoop
    private let disk = BlockingThread()

    func open(_ kind: StoreKind) throws(StoreError) -> MovableStore.Store {
        switch kind {
        case .memory: return MemoryStore()
        case .secretService: return desktop.secretService(configuration.catalog)
        case .sealedFile:
            let source = KeyFile.source(configuration.settings.sealedKey, environment: Environment.value)
            return parts.sealedFile(try place() + "/sessions", source, loop)
        }
    }

    /// - Parameter claimKeyring: before sessions are moved there: one agent has it.
    func surroundings(
        wanted: @escaping @Sendable () -> StoreKind?,
        claimKeyring: @escaping @Sendable () throws(StartRefusal) -> Void
    ) -> StoreAdmin.Dependencies {
        StoreAdmin.Dependencies(
            open: { (kind) throws(StoreError) in
                try await disk.complete {
                    Result { () throws(StoreError) -> MovableStore.Store in
                        do throws(StartRefusal) {
                            if kind == .secretService { try claimKeyring() }
                        } catch {
                            throw .failed(reason: error.message)
                        }
                        return try open(kind)
                    }
                }.get()
            }, wanted: { await disk.complete { wanted() } },
            choose: { (kind) throws(StoreError) in
                try await StateFile.selectedStore(in: try place()).save { kind }
            },
            moves: stateFolder.map { StateFile.unfinishedMove(in: $0) }, parcels: parts.parcels)
    }

    private func place() throws(StoreError) -> String {
        guard let stateFolder else {
            throw .failed(reason: "there is no place for sealed files: neither XDG_STATE_HOME nor HOME is set")
        }
        return stateFolder
    }
}
