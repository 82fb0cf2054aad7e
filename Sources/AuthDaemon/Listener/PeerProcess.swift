import AuthFiles
import CSystemd
import Glibc

/// A process with connections to the main socket. When it has ended, its ID may belong to another process, so nothing more is
/// accepted on its connections.
final class PeerProcess: ReadinessHandler {
    private enum Identity {
        /// Its pidfd, which tells when it ends.
        case watched(CInt)
        /// A connection of it, asked with each message.
        case asked(socket: CInt)
        /// Compared with each message.
        case started(UInt64)
        case ended
    }

    let processID: Int32
    private let executor: SocketExecutor
    private var identity: Identity
    /// By number. They are told when it ends, if it is watched.
    private var connections: [Int: Connection] = [:]

    /// - Parameter descriptor: its pidfd, which is owned.
    init(_ processID: Int32, watching descriptor: CInt, executor: SocketExecutor) {
        self.processID = processID
        self.executor = executor
        identity = .ended
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: .input, self)
            identity = .watched(descriptor)
        } catch {
            close(descriptor)
        }
    }

    /// Not watched.
    /// - Parameter socket: its connection; `nil` if the kernel does not know SO_PEERPIDFD.
    init(_ processID: Int32, at socket: CInt?, executor: SocketExecutor) {
        self.processID = processID
        self.executor = executor
        identity =
            if let socket { .asked(socket: socket) } else {
                ProcText.startTime(of: processID).map { .started($0) } ?? .ended
            }
    }

    /// Whether the ID still belongs to the process that has connected.
    var isRunning: Bool {
        switch identity {
        case .watched: return true
        case .asked(let socket):
            let descriptor = authd_peer_process(socket)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return !Self.hasEnded(descriptor)
        case .started(let time): return ProcText.startTime(of: processID) == time
        case .ended: return false
        }
    }

    /// A pidfd can be read when its process has ended (pidfd_open(2)).
    static func hasEnded(_ descriptor: CInt) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, 0) != 0
    }

    func add(_ connection: Connection) { connections[connection.number] = connection }

    func remove(_ connection: Connection) { connections[connection.number] = nil }

    func ready(for readiness: Readiness) {
        end()
        for connection in Array(connections.values) { connection.processEnded() }
    }

    func executorStops() { end() }

    /// Stops watching it.
    func end() {
        if case .watched(let descriptor) = identity {
            executor.unwatch(descriptor)
            close(descriptor)
        }
        identity = .ended
    }
}

/// The processes with connections to the main socket. Only the sockets' thread uses it.
final class PeerProcesses {
    private struct Entry {
        let process: PeerProcess
        var connections: Int
    }

    private let executor: SocketExecutor
    private let limit: Int
    private var hasPeerDescriptors: Bool
    /// Those that are watched.
    private var entries: [Int32: Entry] = [:]
    private var own: ProcessFacts?

    /// - Parameter limit: how many processes are watched. Each needs a descriptor; for another one the kernel is asked with
    ///   every message.
    /// - Parameter hasPeerDescriptors: whether the kernel may know SO_PEERPIDFD.
    init(executor: SocketExecutor, limit: Int, hasPeerDescriptors: Bool = true) {
        self.executor = executor
        self.limit = limit
        self.hasPeerDescriptors = hasPeerDescriptors
    }

    /// The process at the other end, with one more connection; see ``connectionEnded(of:)``.
    /// - Throws: why it is confined.
    func process(of peer: PeerCredentials, at socket: CInt) throws(ConfinedClient) -> PeerProcess {
        // The kernel has no number for a process that is not in our process namespace, or below it.
        guard peer.processID > 0 else { throw .processNamespace }
        let descriptor = descriptor(of: peer.processID, at: socket)
        guard descriptor >= 0 else { throw errno == ESRCH ? .ended : .failed(errno) }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        let own = if let own { own } else { try ProcessFacts.own() }
        self.own = own
        let facts: ProcessFacts
        do throws(ConfinedClient) {
            facts = try ProcessFacts.read(peer.processID, process: descriptor, socket: socket, own: own)
        } catch {
            // That is why it could not be read.
            throw PeerProcess.hasEnded(descriptor) ? .ended : error
        }
        if let sandbox = facts.sandbox(comparedWith: own) { throw sandbox }
        // What was read belongs to the process that has connected, unless that has ended.
        guard !PeerProcess.hasEnded(descriptor) else { throw .ended }
        if var entry = entries[peer.processID], entry.process.isRunning {
            entry.connections += 1
            entries[peer.processID] = entry
            return entry.process
        }
        guard entries.count < limit else {
            return PeerProcess(peer.processID, at: hasPeerDescriptors ? socket : nil, executor: executor)
        }
        isKept = true
        let process = PeerProcess(peer.processID, watching: descriptor, executor: executor)
        entries[peer.processID] = Entry(process: process, connections: 1)
        return process
    }

    private func descriptor(of processID: Int32, at socket: CInt) -> CInt {
        if hasPeerDescriptors {
            let descriptor = authd_peer_process(socket)
            if descriptor >= 0 || errno != ENOPROTOOPT { return descriptor }
            hasPeerDescriptors = false
        }
        return authd_open_process(processID)
    }

    func connectionEnded(of process: PeerProcess) {
        guard var entry = entries[process.processID], entry.process === process else { return }
        entry.connections -= 1
        entries[process.processID] = entry.connections > 0 ? entry : nil
        if entry.connections == 0 { process.end() }
    }
}
