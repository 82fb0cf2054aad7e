import AuthClient
import AuthWire
import Glibc

/// A program with its arguments, and the variables and descriptor that it gets in addition to those of this process.
struct ChildProgram {
    /// How often to look for its end before a deadline, in milliseconds.
    private static let checkTime: Int32 = 10

    let command: [String]
    var variables: [(name: String, value: String)]
    /// Files that the program inherits, each under its number.
    var descriptors: [(number: Int32, file: Descriptor)] = []

    /// Replaces this process (execve(2)).
    func replaceThis() throws(Failure) -> Never {
        for (name, value) in variables { unsafe setenv(name, value, 1) }
        for descriptor in descriptors {
            let (from, to) = (descriptor.file.number, descriptor.number)
            let isThere = from == to ? fcntl(to, F_SETFD, 0) == 0 : dup2(from, to) == to
            guard isThere else { throw Self.noDescriptor(to) }
        }
        TextAgent.end()
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        unsafe execvp(command[0], &words)
        throw failure(errno)
    }

    /// Starts it as a child.
    /// - Parameters:
    ///   - mask: the signals that are blocked in it.
    ///   - ownGroup: whether it has a separate process group, so that ^C does not reach it.
    func start(mask: sigset_t, isQuiet: Bool = false, ownGroup: Bool = false) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0, unsafe posix_spawnattr_init(&attributes) == 0 else {
            throw .internalError("no memory")
        }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        var mask = mask
        // The group 0 has the child's process ID (posix_spawnattr_setpgroup(3)).
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | (ownGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0))
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        for descriptor in descriptors {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor.file.number, descriptor.number)
        }
        if isQuiet { unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) }
        for (name, value) in variables { unsafe setenv(name, value, 1) }
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for index in command.indices { unsafe free(words[index]) } }
        var child: pid_t = 0
        let code = unsafe posix_spawnp(&child, command[0], &actions, &attributes, &words, environ)
        guard code == 0 else {
            if let descriptor = descriptors.last, code == EBADF { throw Self.noDescriptor(descriptor.number) }
            throw failure(code)
        }
        return child
    }

    /// Starts it and waits for its end.
    /// - Parameter deadline: when it is killed.
    /// - Returns: its exit status; 128 + n for signal n.
    func run(isQuiet: Bool = false, until deadline: Deadline = .never) throws(Failure) -> Int32 {
        var mask = sigset_t()
        unsafe sigprocmask(SIG_BLOCK, nil, &mask)
        let child = try start(mask: mask, isQuiet: isQuiet)
        guard deadline != .never else { return Self.end(of: child) }
        while !deadline.hasPassed {
            if let status = Self.endNow(of: child) { return status }
            _ = poll(nil, 0, Self.checkTime)
        }
        kill(child, SIGKILL)
        return Self.end(of: child)
    }

    /// Waits for a child's end.
    /// - Returns: its exit status; 128 + n for signal n.
    static func end(of child: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        return exitStatus(status)
    }

    /// - Returns: as ``end(of:)``; `nil` if it has not ended.
    static func endNow(of child: pid_t) -> Int32? {
        var status: Int32 = 0
        return unsafe waitpid(child, &status, WNOHANG) == 0 ? nil : exitStatus(status)
    }

    private static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    private static func noDescriptor(_ number: Int32) -> Failure {
        .usage("--fd: this process cannot have a descriptor \(number)")
    }

    /// 126 and 127 as in env(1) and every shell.
    private func failure(_ code: Int32) -> Failure {
        let isMissing = code == ENOENT
        return Failure(
            status: isMissing ? .commandNotFound : .cannotStart, kind: isMissing ? "command_not_found" : "cannot_start",
            message: "\(command[0]): \(SystemError.text(code))")
    }
}
