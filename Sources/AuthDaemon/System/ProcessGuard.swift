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
    /// For the heap (mallopt(3), Docs/decisions/memory.md).
    static let heapOptions = [
        // With one heap for each thread, threads cannot use memory that another thread has freed. One heap besides the main
        // one is enough.
        HeapOption(number: M_ARENA_MAX, value: 2, variable: "MALLOC_ARENA_MAX", tunable: "arena_max"),
        // Larger blocks have separate pages, which the kernel gets back when they are freed. This is glibc's default,
        // but each such block that is freed raises it, up to 32 MiB. Large buffers that were used for a moment then
        // leave holes.
        HeapOption(
            number: M_MMAP_THRESHOLD, value: 128 << 10, variable: "MALLOC_MMAP_THRESHOLD_", tunable: "mmap_threshold"),
    ]

    struct HeapOption {
        let number: CInt
        let value: CInt
        /// How the environment sets it.
        let variable: String
        let tunable: String
    }

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
        for option in unsetHeapOptions(Environment.value) { mallopt(option.number, option.value) }
    }

    /// The options that the environment does not set.
    static func unsetHeapOptions(_ variable: (String) -> String?) -> [HeapOption] {
        let tunables = variable("GLIBC_TUNABLES")?.split(separator: ":") ?? []
        return heapOptions.filter { option in
            variable(option.variable) == nil
                && !tunables.contains { $0.hasPrefix("glibc.malloc.\(option.tunable)=") }
        }
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
