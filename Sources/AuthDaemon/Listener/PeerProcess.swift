import AuthFiles
import CSystemd
import Glibc

/// A process with connections to the main socket. When it has ended, its ID may belong to another process, so nothing more is
/// accepted on its connections.
final class PeerProcess: ReadinessHandler {
    let processID: Int32
    /// `nil` if it is not watched.
    private var descriptor: CInt?
    private let startTime: UInt64?
    private let executor: SocketExecutor
    private var hasEnded = false

    /// - Parameter descriptor: its pidfd, which is owned if `isWatched`.
    init(_ processID: Int32, descriptor: CInt, isWatched: Bool, executor: SocketExecutor) {
        self.processID = processID
        self.executor = executor
        startTime = isWatched ? nil : ProcText.startTime(of: processID)
        guard isWatched else { return }
        do throws(SystemFailure) {
            try executor.watch(descriptor, for: .input, self)
            self.descriptor = descriptor
        } catch {
            close(descriptor)
            hasEnded = true
        }
    }

    /// Whether the ID still belongs to the process that has connected.
    var isRunning: Bool {
        if descriptor != nil { return true }
        guard !hasEnded, let startTime else { return false }
        return ProcText.startTime(of: processID) == startTime
    }

    func ready(for readiness: Readiness) { end() }

    func executorStops() { end() }

    /// Stops watching it.
    func end() {
        hasEnded = true
        guard let descriptor else { return }
        executor.unwatch(descriptor)
        close(descriptor)
        self.descriptor = nil
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
    private let hasPeerDescriptors: Bool
    private var entries: [Int32: Entry] = [:]

    /// - Parameter limit: how many processes are watched. Each needs a descriptor; for another one the start time is read with
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
        guard descriptor >= 0 else { throw .unidentified }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        let facts = ProcessFacts.read(peer.processID, process: descriptor, socket: socket)
        if let sandbox = facts.sandbox(comparedWith: .own) { throw sandbox }
        // What was read belongs to the process that has connected, unless that has ended.
        guard !Self.hasEnded(descriptor) else { throw .unidentified }
        if var entry = entries[peer.processID], entry.process.isRunning {
            entry.connections += 1
            entries[peer.processID] = entry
            return entry.process
        }
        isKept = entries.count < limit
        let process = PeerProcess(peer.processID, descriptor: descriptor, isWatched: isKept, executor: executor)
        entries[peer.processID] = Entry(process: process, connections: 1)
        return process
    }

    private func descriptor(of processID: Int32, at socket: CInt) -> CInt {
        if hasPeerDescriptors {
            let descriptor = authd_peer_process(socket)
            if descriptor >= 0 || errno != ENOPROTOOPT { return descriptor }
        }
        return authd_open_process(processID)
    }

    func connectionEnded(of process: PeerProcess) {
        guard var entry = entries[process.processID], entry.process === process else { return }
        entry.connections -= 1
        entries[process.processID] = entry.connections > 0 ? entry : nil
        if entry.connections == 0 { process.end() }
    }

    /// A pidfd can be read when its process has ended (pidfd_open(2)).
    private static func hasEnded(_ descriptor: CInt) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&watched, 1, 0) != 0
    }
}
