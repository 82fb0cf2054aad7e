import CSystemd
import Glibc

/// What the process does to itself before it holds a secret.
package enum ProcessGuard {
    /// As many descriptors as the hard limit gives, up to this: one for each client, and some for providers.
    static let wantedDescriptors: rlim_t = 8192

    /// No core file, no ptrace by other programs of the person, private files, room for many clients.
    ///
    /// PR_SET_DUMPABLE(2const) 0 also makes `/proc/PID` root's, so that nobody reads our memory there.
    package static func harden() {
        keepStandardDescriptors()
        _ = authd_forbid_dumps()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        raiseDescriptorLimit()
    }

    /// A socket or a lock that got the number of a closed stdout or stderr would be written to.
    private static func keepStandardDescriptors() {
        while case let opened = unsafe open("/dev/null", O_RDWR), opened >= 0 {
            guard opened <= STDERR_FILENO else {
                close(opened)
                return
            }
        }
    }

    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = min(wantedDescriptors, limit.rlim_max)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
