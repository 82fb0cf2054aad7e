package import AuthModel
package import AuthWire
import CSecret
import GLibRuntime

/// A write that a service accepted.
struct KeyringWrite {
    /// The run of the service (``KeyringLink/serviceRun``).
    let serviceRun: Int
    /// Unix seconds as in the Secret Service: not later than the write.
    let since: UInt64
    /// The service that accepted it has reported since, with the collection open, that it is missing.
    var isRemoved = false

    static var now: UInt64 { UInt64(max(0, g_get_real_time())) / 1_000_000 }
}

/// Detects services that lose or change what they have accepted, and names the program.
extension SecretServiceStore {
    /// - Parameter path: of an item, below that of its collection (Secret Service API draft 0.2, "Object Paths").
    func note(_ session: SessionName, at path: String) {
        sessions[path] = session
        collections[session] = path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// Reads back the first value that was written in a session. In about one of a hundred sessions, KWallet and its client
    /// have different keys; it refuses what it cannot decrypt, but one time in 256 decryption succeeds.
    func prove(
        _ keyring: SecretServiceProxy, _ path: String, holds value: Secret, _ deadline: Deadline
    ) async throws(StoreError) {
        guard !keyring.isProven else { return }
        guard try await ask(keyring.reading([path]), deadline, lockedPath: path)[path] == value else {
            throw .failed(reason: "the keyring returned data other than what was written")
        }
        keyring.isProven = true
    }

    func noteWrite(of session: SessionName, since: UInt64) {
        writes[session] = KeyringWrite(serviceRun: link.serviceRun, since: since)
    }

    /// - Parameter isThere: whether an open collection had it just now.
    func recordPresence(of session: SessionName, isThere: Bool) {
        guard writes[session]?.serviceRun == link.serviceRun else { return }
        writes[session]?.isRemoved = !isThere
    }

    /// The service is a new one or was restarted: earlier writes are checked.
    func findLostItems() {
        for session in writes.keys { tellChange.yield(session) }
    }

    /// An item that was seen in another collection than the present default is missing only if that one is open and does not
    /// have it. If that one is not there, as with another service, the session is to be written again.
    ///
    /// If the service has not changed, nothing is lost: what is missing was removed. A removal during an earlier run was seen
    /// then. If the collection was changed after our write, the write was saved with it (Docs/decisions/keyring.md).
    package func hasLost(_ session: SessionName) async throws(StoreError) -> Bool {
        guard let bus = link.connection else { throw .missing(reason: "the connection to the message bus was lost") }
        let deadline = SuspendingClock.now + limit
        guard let path = try await ask(CollectionWatch.readingDefault(on: bus), deadline) else { return false }
        if let collection = collections[session], collection != path {
            do throws(StoreError) {
                if try await ask(CollectionWatch.readingLocked(collection, on: bus), deadline) {
                    // What the search has not found says nothing.
                    writes[session]?.isRemoved = false
                    throw .locked
                }
            } catch {
                guard case .failed = error else { throw error }
                return true
            }
        }
        guard let write = writes[session], write.serviceRun != link.serviceRun, !write.isRemoved else { return false }
        let written = collections[session] ?? path
        let reading = CollectionWatch.reading("Modified", of: written, interface: CollectionWatch.interface, on: bus) {
            $0.uint64
        }
        do throws(StoreError) {
            // A service that does not support it returns 0,
            return try await ask(reading, deadline) < write.since
        } catch {
            // or an error, or no number. Any other failure says nothing: the service is silent, locked or gone.
            guard case .failed = error else { throw error }
            return true
        }
    }

    /// The owner of the service's name on the bus.
    package func process() async -> StoreProcess? {
        guard let bus = link.connection else { return nil }
        let reading = bus.readingProcess(of: SecretServiceProxy.busName)
        // Not through `ask`: a slow bus is not the keyring's state.
        guard let pid = try? await thread.call(reading, limit: limit) else { return nil }
        return StoreProcess(pid: Int32(truncatingIfNeeded: pid), name: Self.name(ofProcess: pid))
    }

    private static func name(ofProcess pid: UInt32) -> String? {
        var text: UnsafeMutablePointer<gchar>?
        guard g_file_get_contents("/proc/\(pid)/comm", &text, nil, nil) != 0, let text else { return nil }
        defer { g_free(text) }
        return String(cString: text).split(separator: "\n").first.map(String.init)
    }
}
