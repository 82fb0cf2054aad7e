import AuthConnection
import AuthWire
import CLinux
import Glibc

/// Receives this process's signals with signalfd(2), which reports the sender, so that they can be passed on to a
/// child.
///
/// They are blocked until the process ends. ``inherited`` is the mask for the child.
struct ChildSignals {
    struct Received {
        let number: Int32
        /// `nil` for a signal from the kernel, as for ^C: the terminal's whole foreground process group gets it.
        let sender: pid_t?
    }

    private static let numbers = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGALRM, SIGCHLD,
    ]

    let descriptor: Descriptor
    let inherited: sigset_t

    init() throws(Failure) {
        var wanted = sigset_t()
        var former = sigset_t()
        unsafe sigemptyset(&wanted)
        // What this program was started to ignore stays ignored (nohup), here and in the child.
        for number in Self.numbers where !Self.isIgnored(number) { unsafe sigaddset(&wanted, number) }
        unsafe sigprocmask(SIG_BLOCK, &wanted, &former)
        inherited = former
        let number = unsafe signalfd(-1, &wanted, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        guard number >= 0 else { throw .internalError("cannot wait for signals (\(SystemError.text(errno)))") }
        descriptor = Descriptor(number)
        // If SIGCHLD is ignored, waitpid(2) finds no child.
        signal(SIGCHLD, SIG_DFL)
    }

    func next() -> Received? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard unsafe read(descriptor.number, &info, size) == size else { return nil }
        // SI_USER, SI_QUEUE and SI_TKILL are 0 and below (sigaction(2)).
        return Received(number: Int32(info.ssi_signo), sender: info.ssi_code <= 0 ? pid_t(info.ssi_pid) : nil)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        unsafe sigaction(number, nil, &action)
        // SIG_IGN (signal.h), a cast that Swift cannot import. waitpid(2) needs SIGCHLD.
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1 && number != SIGCHLD
    }

    /// Stops this process as ^Z does, after its child has stopped. If no shell could continue it, the kernel does nothing
    /// (POSIX.1-2017 §2.4.3, orphaned process groups).
    static func stopThis() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGTSTP)
        var former = sigset_t()
        unsafe sigprocmask(SIG_UNBLOCK, &set, &former)
        raise(SIGTSTP)
        unsafe sigprocmask(SIG_SETMASK, &former, nil)
    }

    /// Ends this process with the signal that ended its child, without a core file.
    static func end(by number: Int32) -> Never {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe sigprocmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        exit(128 + number)
    }
}
