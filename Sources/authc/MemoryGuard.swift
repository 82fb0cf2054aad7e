import CLinux
import Synchronization

/// Keeps other programs of the user away from the memory of this one, from before its first secret to its end: no ptrace, no
/// core file, and `/proc/PID/mem` is root's (PR_SET_DUMPABLE(2const)).
enum MemoryGuard {
    private static let closed = Atomic(false)

    static var isClosed: Bool { closed.load(ordering: .relaxed) }

    /// From then on the agent cannot see which program this is either: see ``Agent/introduce()``.
    static func close() {
        _ = linux_forbid_dumps()
        closed.store(true, ordering: .relaxed)
    }
}
