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
/// newest are stored. Those of an earlier run are removed in the same way.
package final class DescriptorStore: HandoverStore {
    /// Sends to the manager; `false` if it cannot receive. It must not wait.
    package typealias Send = @Sendable (_ message: String, _ descriptors: [CInt]) -> Bool

    /// Far above the few MB of a thousand sessions.
    static let maxBytes = 16 << 20
    private static let prefix = "sessions."

    private struct State {
        /// From the previous run, until the first of this run is stored.
        var inherited: [ListenDescriptors.Given]
        /// To be removed when the next one is stored.
        var former: [String] = []
        var current: SealedMemory?
        var writer = HandoverEncoder()
        var number: UInt64 = 0
    }

    private let state: Mutex<State>
    private let send: Send
    private let logger: Logger

    /// - Parameter inherited: descriptors that came with the sockets; they are closed here.
    package init(inherited: [ListenDescriptors.Given], logger: Logger, send: @escaping Send) {
        state = Mutex(State(inherited: inherited))
        self.logger = logger
        self.send = send
    }

    /// `nil` without a service manager: inherited descriptors are closed then.
    package static func systemd(inherited: [ListenDescriptors.Given], logger: Logger) -> DescriptorStore? {
        guard Environment.value("NOTIFY_SOCKET") != nil else {
            for given in inherited { close(given.descriptor) }
            return nil
        }
        return DescriptorStore(inherited: inherited, logger: logger) { message, descriptors in
            unsafe sd_pid_notify_with_fds(0, 0, message, descriptors, UInt32(descriptors.count)) > 0
        }
    }

    // MARK: From the previous run

    package func load(of kind: StoreKind) -> Handover {
        state.withLock { state in
            let inherited = state.inherited.sorted { number($0) ?? 0 > number($1) ?? 0 }
            state.inherited = []
            state.former = inherited.map(\.name)
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

    package func save(_ handover: Handover, of kind: StoreKind) {
        state.withLock { state in
            let former = state.former
            let memory = state.current
            (state.former, state.current) = ([], nil)
            if handover.sessions.isEmpty {
                state.writer = HandoverEncoder()
            } else {
                state.number += 1
                let name = "\(Self.prefix)\(state.number)"
                if let new = put(state.writer.text(of: handover, in: kind), as: name) {
                    (state.former, state.current) = ([name], new)
                }
            }
            // No older sessions remain, even if the new ones could not be stored: their tokens may be used up.
            memory?.wipe()
            for name in former { _ = send("FDSTOREREMOVE=1\nFDNAME=\(name)", []) }
        }
    }

    private func put(_ text: Secret, as name: String) -> SealedMemory? {
        guard text.count <= Self.maxBytes else {
            logger.warning("There are too many sessions to hand over: a restart will wait for the store.")
            return nil
        }
        do throws(SystemFailure) {
            let memory = try SealedMemory(name: "authd-sessions", holding: text)
            if send("FDSTORE=1\nFDNAME=\(name)", [memory.descriptor]) { return memory }
            memory.wipe()
            logger.warning(
                "The sessions could not be passed to the service manager: a restart will wait for the store.")
        } catch {
            logger.warning("The sessions are not handed over: \(error). A restart will wait for the store.")
        }
        return nil
    }
}
