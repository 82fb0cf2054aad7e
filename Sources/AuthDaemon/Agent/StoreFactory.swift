import AuthAgent
import AuthConcurrency
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
                try await disk.complete {
                    Result { () throws(StoreError) in try StoreSelection(in: try place()).keep(kind) }
                }.get()
            },
            moves: stateFolder.map { UnfinishedMoveFile(in: $0) } ?? NoUnfinishedMoveStore(), parcels: parts.parcels)
    }

    private func place() throws(StoreError) -> String {
        guard let stateFolder else {
            throw .failed(reason: "there is no place for sealed files: neither XDG_STATE_HOME nor HOME is set")
        }
        return stateFolder
    }
}
