import CLinux
import Synchronization

/// Closes this process's memory to other programs of the user before the first secret: no ptrace, no core file, and only
/// root can read `/proc/PID/mem` (PR_SET_DUMPABLE(2const)).
enum MemoryGuard {
    private static let closed = Atomic(false)

    static var isClosed: Bool { closed.load(ordering: .relaxed) }

    /// Afterwards the agent cannot identify this program either: see ``Agent/introduce(watching:)``.
    static func close() {
        _ = linux_forbid_dumps()
        closed.store(true, ordering: .relaxed)
    }
}
