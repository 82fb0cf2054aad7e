import CSystemd
import Glibc

/// What the process does to itself before it holds a secret.
package enum ProcessGuard {
    /// As many descriptors as the hard limit gives, up to this: one for each client (12,000 of one user), and some for the agent
    /// itself. LimitNOFILE= in systemd/authd.service is the same.
    static let wantedDescriptors: rlim_t = 16_384
    /// For the secrets of a thousand sessions.
    static let wantedLockedBytes: rlim_t = 8 << 20

    /// No core file, no ptrace by other programs of the person, private files, room for many clients.
    ///
    /// PR_SET_DUMPABLE(2const) 0 also makes `/proc/PID` root's, so that nobody reads our memory there.
    package static func harden() {
        keepCrashesShort()
        _ = authd_forbid_dumps()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow (RLIMIT_FSIZE) is an error to be told, as a full disk is.
        signal(SIGXFSZ, SIG_IGN)
        raise(RLIMIT_NOFILE, to: wantedDescriptors)
        raise(__RLIMIT_MEMLOCK, to: wantedLockedBytes)
    }

    /// A socket or a lock that got the number of a closed stdout or stderr would be written to. So this comes first of all: the
    /// first task has libdispatch open descriptors of its own.
    package static func keepStandardDescriptors() {
        while case let opened = unsafe open("/dev/null", O_RDWR), opened >= 0 {
            guard opened <= STDERR_FILENO else {
                close(opened)
                return
            }
        }
    }

    /// Swift's account of a crash shows what registers point to, which may be a secret, and takes seconds in which nobody is
    /// served. Who asks for it (`SWIFT_BACKTRACE`) gets it.
    private static func keepCrashesShort() {
        guard Environment.value("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// How many the process may have.
    package static var descriptors: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// As far as the hard limit lets us.
    private static func raise(_ resource: __rlimit_resource, to wanted: rlim_t) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(resource.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        let wanted = min(wanted, limit.rlim_max)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        unsafe setrlimit(resource, &limit)
    }
}
