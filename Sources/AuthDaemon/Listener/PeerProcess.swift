import AuthFiles
import CSystemd
import Glibc

/// A connection of a ``PeerProcess``.
protocol PeerProcessUser: AnyObject {
    /// Unique in the registry.
    var number: Int { get }
    func processEnded()
}

/// A process with connections to the main socket, or to the message bus. When it has ended, its ID may belong to another
/// process, so nothing more is accepted on its connections.
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
    /// By number. They are notified when it ends, if it is watched.
    private var connections: [Int: any PeerProcessUser] = [:]

    /// - Parameter descriptor: its pidfd, which is owned.
    init(_ processID: Int32, watching descriptor: CInt, executor: SocketExecutor) {
        self.processID = processID
        self.executor = executor
        identity = .ended
        do throws(SystemFailure) {
            // Its end is known before input by a process that has got its number since.
            try executor.watch(descriptor, for: .input, self, .early)
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

    /// Valid until this thread has more work: the process may end then.
    var reference: PeerReference {
        switch identity {
        case .watched(let descriptor): .descriptor(descriptor)
        case .asked: .socket
        case .started(let time): .started(time)
        case .ended: .started(nil)
        }
    }

    /// A pidfd can be read when its process has ended (pidfd_open(2)).
    static func hasEnded(_ descriptor: CInt) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, 0) != 0
    }

    func add(_ connection: any PeerProcessUser) { connections[connection.number] = connection }

    func remove(_ connection: any PeerProcessUser) { connections[connection.number] = nil }

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
        try process(of: peer, at: .socket(socket)) { self.descriptor(of: $0, at: socket) }
    }

    /// The same for one that is connected to the message bus.
    /// - Parameter descriptor: its pidfd, which is owned, if the bus reported it. Otherwise the process that has the number now
    ///   is meant.
    func process(
        of peer: PeerCredentials, onBusWith label: String?, descriptor: CInt?
    ) throws(ConfinedClient) -> PeerProcess {
        guard peer.processID > 0 || descriptor == nil else {
            if let descriptor { close(descriptor) }
            throw .processNamespace
        }
        return try process(of: peer, at: .bus(label: label)) { descriptor ?? authd_open_process($0) }
    }

    private func process(
        of peer: PeerCredentials, at end: PeerEnd, opened: (Int32) -> CInt
    ) throws(ConfinedClient) -> PeerProcess {
        // The kernel has no number for a process that is not in our process namespace, or below it.
        guard peer.processID > 0 else { throw .processNamespace }
        let descriptor = opened(peer.processID)
        guard descriptor >= 0 else { throw errno == ESRCH ? .ended : .failed(errno) }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        if let sandbox = try sandbox(of: peer.processID, descriptor: descriptor, at: end) { throw sandbox }
        // What was read belongs to the process that has connected, unless that has ended.
        guard !PeerProcess.hasEnded(descriptor) else { throw .ended }
        if var entry = entries[peer.processID], entry.process.isRunning {
            entry.connections += 1
            entries[peer.processID] = entry
            return entry.process
        }
        guard entries.count < limit else {
            let asked = hasPeerDescriptors && end.socket >= 0 ? end.socket : nil
            return PeerProcess(peer.processID, at: asked, executor: executor)
        }
        isKept = true
        let process = PeerProcess(peer.processID, watching: descriptor, executor: executor)
        entries[peer.processID] = Entry(process: process, connections: 1)
        return process
    }

    /// The sandbox that the process listening at the other end of a socket is in; `nil`: in none, or it has ended.
    func sandbox(ofListenerAt socket: CInt) -> ConfinedClient? {
        guard let peer = PeerCredentials(descriptor: socket), peer.processID > 0 else { return .processNamespace }
        let descriptor = descriptor(of: peer.processID, at: socket)
        guard descriptor >= 0 else { return errno == ESRCH ? nil : .failed(errno) }
        defer { close(descriptor) }
        do throws(ConfinedClient) {
            return try sandbox(of: peer.processID, descriptor: descriptor, at: .socket(socket))
        } catch {
            return error == .ended ? nil : error
        }
    }

    private func sandbox(
        of processID: Int32, descriptor: CInt, at end: PeerEnd
    ) throws(ConfinedClient) -> ConfinedClient? {
        let own = if let own { own } else { try ProcessFacts.own() }
        self.own = own
        do throws(ConfinedClient) {
            return try ProcessFacts.read(processID, process: descriptor, at: end, own: own)
                .sandbox(comparedWith: own)
        } catch {
            // That is why it could not be read.
            throw PeerProcess.hasEnded(descriptor) ? .ended : error
        }
    }

    /// To find a process that is not watched.
    func reference(to processID: Int32, at socket: CInt) -> PeerReference {
        let descriptor = hasPeerDescriptors ? descriptor(of: processID, at: socket) : -1
        if descriptor >= 0 { close(descriptor) }
        return hasPeerDescriptors ? .socket : .started(ProcText.startTime(of: processID))
    }

    /// A pidfd of the process at the other end, on kernels without SO_PEERPIDFD of the one with its number; -1 with errno set.
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
