package import AuthWire
import CSecret
import GLibRuntime

/// A write that a service accepted.
struct KeyringWrite {
    /// Which of the services that had the name (``KeyringLink/serviceRun``).
    let serviceRun: Int
    /// Unix seconds, as the Secret Service counts: not later than the write.
    let since: UInt64
    /// The service that accepted it has said since, with the collection open, that it is not there.
    var isRemoved = false

    static var now: UInt64 { UInt64(max(0, g_get_real_time())) / 1_000_000 }
}

/// Services that end before they have saved what they accepted, and which program the service is.
extension SecretServiceStore {
    func noteWrite(of session: SessionName, since: UInt64) {
        writes[session] = KeyringWrite(serviceRun: link.serviceRun, since: since)
    }

    /// - Parameter isThere: what an open collection had of it just now.
    func noteSight(of session: SessionName, isThere: Bool) {
        guard writes[session]?.serviceRun == link.serviceRun else { return }
        writes[session]?.isRemoved = !isThere
    }

    /// Another service has the name, or the same one again: what was written before is looked for.
    func findLostItems() {
        for session in writes.keys { tellChange.yield(session) }
    }

    /// A service that was there all the time has lost nothing: what is missing was removed. A removal in the lifetime of
    /// one that is gone was seen while that one was there. And if the collection was changed after our write, the write was
    /// saved with it (Docs/decisions/keyring.md).
    package func hasLost(_ session: SessionName) async -> Bool {
        guard let write = writes[session], write.serviceRun != link.serviceRun, !write.isRemoved,
            let bus = link.connection
        else { return false }
        let deadline = SuspendingClock.now + limit
        guard let path = try? await ask(CollectionWatch.readingDefault(on: bus), deadline) else { return false }
        let reading = CollectionWatch.reading("Modified", of: path, interface: CollectionWatch.interface, on: bus) {
            $0.uint64
        }
        // A service that does not say when has 0 there, or nothing.
        guard let modified = try? await ask(reading, deadline) else { return true }
        return modified < write.since
    }

    /// The owner of the service's name on the bus.
    package func process() async -> StoreProcess? {
        guard let bus = link.connection else { return nil }
        let reading = bus.readingProcess(of: SecretServiceProxy.busName)
        // Not by way of `ask`: that the bus is slow is not the keyring's state.
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
