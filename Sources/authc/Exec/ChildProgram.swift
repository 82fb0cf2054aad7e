import AuthConnection
import AuthFiles
import AuthProcesses
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
        for (name, value) in variables { unsafe setenv(name, value, 1) }
        do throws(SystemFailure) {
            var program = try ProgramStart(command)
            program.block(mask)
            if ownGroup { program.separate(.group) }
            for descriptor in descriptors { program.pass(descriptor.file.number, as: descriptor.number) }
            if isQuiet { program.passNothing(as: STDOUT_FILENO) }
            return try program.start()
        } catch {
            if let descriptor = descriptors.last, error.number == EBADF { throw Self.noDescriptor(descriptor.number) }
            throw failure(error.number)
        }
    }

    /// Starts it and waits for its end.
    /// - Parameter deadline: when it is killed.
    /// - Returns: its exit status; 128 + n for signal n.
    func run(isQuiet: Bool = false, until deadline: Deadline = .never) throws(Failure) -> Int32 {
        var mask = sigset_t()
        unsafe sigprocmask(SIG_BLOCK, nil, &mask)
        let child = try start(mask: mask, isQuiet: isQuiet)
        guard deadline != .never else { return ProcessEnd(of: child).shellStatus }
        while !deadline.hasPassed {
            if let end = ProcessEnd(ofEnded: child) { return end.shellStatus }
            _ = poll(nil, 0, Self.checkTime)
        }
        kill(child, SIGKILL)
        return ProcessEnd(of: child).shellStatus
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
