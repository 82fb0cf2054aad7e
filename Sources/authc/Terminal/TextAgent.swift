import CLinux
import Glibc
import Synchronization

/// polkit's agent for terminals, which asks for the user's password if no desktop does (pkttyagent(1)).
enum TextAgent {
    /// It registers with polkitd, which may have to be started.
    private static let longestStart: Int32 = 10_000
    /// 0: none.
    private static let process = Atomic<pid_t>(0)

    /// - Returns: whether one runs for this process now.
    static func start() -> Bool {
        guard process.load(ordering: .relaxed) == 0 else { return false }
        var ready: Int32 = -1
        let child = unsafe linux_start_text_agent(SIGTERM, &ready)
        guard child > 0 else { return false }
        defer { close(ready) }
        process.store(child, ordering: .relaxed)
        var end = pollfd(fd: ready, events: Int16(POLLIN), revents: 0)
        let isReady = unsafe poll(&end, 1, longestStart) == 1
        // It ends at once if it is not installed or not accepted.
        if isReady, waitpid(child, nil, WNOHANG) == 0 { return true }
        TextAgent.end()
        return false
    }

    /// Before another program runs in place of this one, too.
    static func end() {
        let child = process.exchange(0, ordering: .relaxed)
        guard child > 0 else { return }
        kill(child, SIGTERM)
        _ = waitpid(child, nil, 0)
    }
}
