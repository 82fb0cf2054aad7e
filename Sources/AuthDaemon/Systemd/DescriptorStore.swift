import AuthFiles
package import AuthModel
package import AuthWire
import CSystemd
import Glibc
package import Logging
import Synchronization

/// The service manager's descriptor store (sd_notify(3), `FDSTORE=1`): its content is passed to the next run with the sockets,
/// until the service is stopped.
///
/// Invariant: the manager has the newest sessions, and for a moment the former ones, which are wiped and removed when the
/// newest are stored. Those of an earlier run are removed in the same way. While the manager does not receive messages,
/// the former ones are wiped anyway, and the manager gets the newest when it receives again.
package final class DescriptorStore: HandoverStore {
    /// Far above the few MB of a thousand sessions.
    static let maxBytes = 16 << 20
    private static let prefix = "sessions."

    private struct Saved {
        let name: String
        let memory: SealedMemory
        /// The message with the memory was sent. Until then no other process has it.
        var isSent = false
    }

    private struct State {
        /// Descriptors from the previous run, until they are read.
        var inherited: [ListenDescriptors.Given]
        /// What ``prepare(of:)`` has read from them, until ``load(of:)``.
        var prepared: (kind: StoreKind, handover: Handover)?
        /// The names of loaded descriptors, until something is saved.
        var loaded: [String] = []
        /// The names of earlier saves that the manager must still remove.
        var outdated: [String] = []
        var current: Saved?
        /// The next run would not get the last save.
        var isBehind = false
        /// Another thread waits for the manager, and then sends what was not sent.
        var isWaiting = false
        var writer = HandoverEncoder()
        var number: UInt64 = 0
    }

    private let state: Mutex<State>
    private let receiver: any NotificationReceiver
    private let logger: Logger

    /// - Parameter inherited: descriptors that came with the sockets; they are closed here.
    package init(inherited: [ListenDescriptors.Given], to receiver: any NotificationReceiver, logger: Logger) {
        state = Mutex(State(inherited: inherited))
        self.receiver = receiver
        self.logger = logger
    }

    /// `nil` without a service manager: inherited descriptors are closed then.
    package static func ofManager(
        _ receiver: (any NotificationReceiver)?, inherited: [ListenDescriptors.Given], logger: Logger
    ) -> DescriptorStore? {
        guard let receiver else {
            for given in inherited { close(given.descriptor) }
            return nil
        }
        return DescriptorStore(inherited: inherited, to: receiver, logger: logger)
    }

    // MARK: From the previous run

    /// Reads what the previous run saved, so that ``load(of:)`` need not, or only waits for this: it takes a while to
    /// decode many sessions. It does nothing after ``load(of:)``.
    package func prepare(of kind: StoreKind) {
        state.withLock { state in
            guard !state.inherited.isEmpty else { return }
            state.prepared = (kind, read(of: kind, &state))
        }
    }

    package func load(of kind: StoreKind) -> Handover {
        state.withLock { state in
            defer { state.prepared = nil }
            if let prepared = state.prepared, prepared.kind == kind { return prepared.handover }
            return read(of: kind, &state)
        }
    }

    private func read(of kind: StoreKind, _ state: inout State) -> Handover {
        guard !state.inherited.isEmpty else { return Handover() }
        let inherited = state.inherited.sorted { number($0) ?? 0 > number($1) ?? 0 }
        state.inherited = []
        state.loaded = inherited.map(\.name)
        state.number = inherited.first.flatMap(number) ?? 0
        defer { for given in inherited { close(given.descriptor) } }
        var loaded: Handover?
        for given in inherited {
            do throws(Refusal) {
                guard number(given) != nil else { throw Refusal(reason: "it was not handed over by authd") }
                // The newest one is used; an older one was about to be removed.
                if loaded == nil, let text = try Self.read(given.descriptor) {
                    loaded = try Self.translated { () throws(DamagedRecord) in
                        try Handover.decode(text, of: kind)
                    }
                }
            } catch {
                logger.warning(
                    "Sessions from the service manager are not used: \(error.reason).",
                    metadata: ["descriptor": "\(given.name)"])
            }
        }
        if let loaded {
            logger.info("Loaded sessions of the previous run.", metadata: ["sessions": "\(loaded.sessions.count)"])
        }
        return loaded ?? Handover()
    }

    private func number(_ given: ListenDescriptors.Given) -> UInt64? {
        given.name.hasPrefix(Self.prefix) ? UInt64(given.name.dropFirst(Self.prefix.count)) : nil
    }

    private struct Refusal: Error {
        let reason: String
    }

    private static func translated<Value>(_ work: () throws(DamagedRecord) -> Value) throws(Refusal) -> Value {
        do throws(DamagedRecord) {
            return try work()
        } catch {
            throw Refusal(reason: error.reason)
        }
    }

    /// The content of sealed memory; `nil` if it was wiped.
    private static func read(_ descriptor: CInt) throws(Refusal) -> Secret? {
        let seals = fcntl(descriptor, authd_get_seals, 0)
        guard seals >= 0 else { throw Refusal(reason: "it is not sealable memory") }
        guard seals & SealedMemory.seals == SealedMemory.seals else { throw Refusal(reason: "it is not sealed") }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size <= maxBytes else { throw Refusal(reason: "it has \(size) bytes, and \(maxBytes) is the most") }
        var bytes = [UInt8](repeating: 0, count: max(0, size))
        var count = 0
        while count < bytes.count {
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count, off_t(count))
            }
            guard read > 0 else { throw Refusal(reason: "\(SystemFailure("read it"))") }
            count += read
        }
        return bytes.allSatisfy { $0 == 0 } ? nil : Secret(bytes: bytes)
    }

    // MARK: For the next run

    package var hasNewest: Bool { state.withLock { !$0.isBehind } }

    package func save(_ handover: Handover, of kind: StoreKind) {
        let isFull = state.withLock { state in
            let former = state.current
            state.current = nil
            state.isBehind = !handover.sessions.isEmpty
            if handover.sessions.isEmpty {
                state.writer = HandoverEncoder()
            } else {
                state.number += 1
                state.current = memory(
                    for: state.writer.text(of: handover, in: kind), named: "\(Self.prefix)\(state.number)")
            }
            var result = sendUnsent(&state)
            if result == .failed {
                logger.warning(
                    "The sessions could not be passed to the service manager: a restart will wait for the store.")
            }
            // No older sessions remain, even if the new ones could not be sent: their tokens may be used up.
            former?.memory.wipe()
            state.outdated += state.loaded + (former.map { $0.isSent ? [$0.name] : [] } ?? [])
            state.loaded = []
            if result != .isFull { result = removeOutdated(&state) }
            return mustWait(&state, after: result)
        }
        if isFull { wait() }
    }

    private func memory(for text: Secret, named name: String) -> Saved? {
        guard text.count <= Self.maxBytes else {
            logger.warning("There are too many sessions to hand over: a restart will wait for the store.")
            return nil
        }
        do throws(SystemFailure) {
            return Saved(name: name, memory: try SealedMemory(name: "authd-sessions", holding: text))
        } catch {
            logger.warning("The sessions are not handed over: \(error). A restart will wait for the store.")
            return nil
        }
    }

    // MARK: To the manager

    /// Sends what could not be sent, if there is anything. It does not wait.
    package func retry() {
        let isFull = state.withLockIfAvailable { state in
            let result = sendUnsent(&state)
            return mustWait(&state, after: result)
        }
        if isFull == true { wait() }
    }

    /// Removes outdated memories first, so that the manager never has more than two.
    private func sendUnsent(_ state: inout State) -> NotificationResult {
        guard removeOutdated(&state) != .isFull else { return .isFull }
        guard let current = state.current, !current.isSent else { return .sent }
        let result = receiver.send("FDSTORE=1\nFDNAME=\(current.name)", with: current.memory.descriptor)
        if result == .sent {
            state.current?.isSent = true
            state.isBehind = false
        }
        return result
    }

    private func removeOutdated(_ state: inout State) -> NotificationResult {
        while let name = state.outdated.first {
            let result = receiver.send("FDSTOREREMOVE=1\nFDNAME=\(name)", with: nil)
            guard result == .sent else { return result }
            state.outdated.removeFirst()
        }
        return .sent
    }

    /// Whether this caller must wait for the manager, because no other thread does.
    private func mustWait(_ state: inout State, after result: NotificationResult) -> Bool {
        guard result == .isFull, !state.isWaiting else { return false }
        state.isWaiting = true
        return true
    }

    private func wait() {
        receiver.whenReceiving { [self] in
            let isFull = state.withLock { state in
                state.isWaiting = false
                let result = sendUnsent(&state)
                return mustWait(&state, after: result)
            }
            if isFull { wait() }
        }
    }
}
