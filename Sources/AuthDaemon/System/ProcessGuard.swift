import CLinux
import CSandbox
import CSystemd
import Glibc

/// Hardens the process before it has secrets.
package enum ProcessGuard {
    /// The number of descriptors, if the hard limit allows it: one for each client (12,000 of one user), and some for the agent
    /// itself. LimitNOFILE= in systemd/authd.service is the same.
    static let requestedDescriptors: rlim_t = 16_384
    /// For the secrets of a thousand sessions.
    static let requestedLockedBytes: rlim_t = 8 << 20
    /// With one heap for each thread, threads cannot use memory that another thread has freed. One heap besides the
    /// main one is enough (Docs/decisions/memory.md). The environment may set another number.
    static let heaps: CInt = 2

    /// No core file, no ptrace by other programs of the user, private files, descriptors for many clients.
    ///
    /// PR_SET_DUMPABLE(2const) 0 also makes root the owner of `/proc/PID`, so that nobody can read our memory there.
    package static func harden() {
        keepCrashesShort()
        _ = authd_forbid_dumps()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow (RLIMIT_FSIZE) causes an error, like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        raise(RLIMIT_NOFILE, to: requestedDescriptors)
        raise(__RLIMIT_MEMLOCK, to: requestedLockedBytes)
        if !limitsHeaps(Environment.value) { mallopt(M_ARENA_MAX, heaps) }
    }

    /// Whether the environment sets how many heaps there may be (mallopt(3)).
    static func limitsHeaps(_ variable: (String) -> String?) -> Bool {
        if variable("MALLOC_ARENA_MAX") != nil { return true }
        let tunables = variable("GLIBC_TUNABLES")?.split(separator: ":") ?? []
        return tunables.contains { $0.hasPrefix("glibc.malloc.arena_max=") }
    }

    /// A socket or lock with the number of a closed stdout or stderr would be written to. This must run first: the first task
    /// makes libdispatch open descriptors.
    package static func keepStandardDescriptors() {
        while case let opened = unsafe open("/dev/null", O_RDWR), opened >= 0 {
            guard opened <= STDERR_FILENO else {
                close(opened)
                return
            }
        }
    }

    /// Closes what the parent left open: an open file can be read whatever Landlock refuses. Must be called before the
    /// agent opens its first descriptor. Linux before 5.9 cannot do it.
    package static func closeDescriptors(from first: CInt) { _ = sandbox_close_from(first) }

    /// Swift's crash report shows what registers point to, which may be a secret, and takes seconds in which nobody is served.
    /// `SWIFT_BACKTRACE` enables it.
    private static func keepCrashesShort() {
        guard Environment.value("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// The limit of the process.
    package static var descriptors: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// As far as the hard limit allows.
    private static func raise(_ resource: __rlimit_resource, to requested: rlim_t) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(resource.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        let requested = min(requested, limit.rlim_max)
        guard limit.rlim_cur < requested else { return }
        limit.rlim_cur = requested
        unsafe setrlimit(resource, &limit)
    }
}
