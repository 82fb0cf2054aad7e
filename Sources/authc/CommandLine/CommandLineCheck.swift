import AuthWire
import Glibc

/// Detects that the command line is missing. Swift's runtime reads it from `/proc`. If it cannot, the command line is
/// empty, and every command would print the help and succeed.
enum CommandLineCheck {
    static var failure: Failure? {
        guard CommandLine.argc < 1 else { return nil }
        let descriptor = unsafe open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        let code = errno
        guard descriptor < 0 else {
            close(descriptor)
            return .internalError("the command line is empty")
        }
        var failure = Failure.internalError("cannot read the command line (\(SystemError.text(code)))")
        if code == EMFILE { failure.hint = "allow this process more open files: `ulimit -n`" }
        if code == ENOENT { failure.hint = "mount /proc" }
        return failure
    }
}
