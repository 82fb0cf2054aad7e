package import AuthFiles
package import Glibc

/// A program that is started as a child of this process (posix_spawn(3)).
@safe package struct ProgramStart: ~Copyable {
    package enum Separation: Sendable {
        case none
        /// In a separate process group: ^C does not reach it.
        case group
        /// In a separate session (setsid(2)): it is not ended with this process.
        case session
    }

    /// The words of the command.
    private let command: [String]
    /// A path, or a name that is looked up on the PATH.
    private let program: String
    /// What is done with descriptors in the child.
    var actions = unsafe posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
    private var flags: CInt = 0

    /// NAME=VALUE; `nil` passes the variables of this process on.
    package var environment: [String]?

    /// - Parameter program: the first word of the command, if there is no other.
    package init(_ command: [String], program: String? = nil) throws(SystemFailure) {
        self.command = command
        self.program = program ?? command[0]
        var code = unsafe posix_spawn_file_actions_init(&actions)
        guard code == 0 else { throw SystemFailure("start \(self.program)", number: code) }
        code = unsafe posix_spawnattr_init(&attributes)
        guard code == 0 else {
            unsafe posix_spawn_file_actions_destroy(&actions)
            throw SystemFailure("start \(self.program)", number: code)
        }
    }

    deinit {
        var (actions, attributes) = unsafe (actions, attributes)
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
    }

    /// The child blocks these signals; without this call, those of the thread that starts it.
    package mutating func block(_ signals: sigset_t) {
        var signals = signals
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        flags |= CInt(POSIX_SPAWN_SETSIGMASK)
    }

    /// The child blocks no signal.
    package mutating func blockNoSignal() {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        block(none)
    }

    /// The child ignores no signal.
    package mutating func ignoreNoSignal() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        flags |= CInt(POSIX_SPAWN_SETSIGDEF)
    }

    package mutating func separate(_ separation: Separation) {
        switch separation {
        case .none: break
        case .group:
            // The group 0 has the child's process ID (posix_spawnattr_setpgroup(3)).
            unsafe posix_spawnattr_setpgroup(&attributes, 0)
            flags |= CInt(POSIX_SPAWN_SETPGROUP)
        case .session: flags |= Self.setSession
        }
    }

    /// - Returns: the child's process ID.
    package consuming func start() throws(SystemFailure) -> pid_t {
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe Self.copies(command)
        defer { unsafe Self.free(words) }
        var child: pid_t = 0
        let code: CInt
        if let environment {
            var assignments = unsafe Self.copies(environment)
            defer { unsafe Self.free(assignments) }
            code = unsafe posix_spawnp(&child, program, &actions, &attributes, &words, &assignments)
        } else {
            code = unsafe posix_spawnp(&child, program, &actions, &attributes, &words, environ)
        }
        guard code == 0 else { throw SystemFailure("start \(program)", number: code) }
        return child
    }

    /// POSIX_SPAWN_SETSID of spawn.h, which is defined with _GNU_SOURCE only.
    private static let setSession: CInt = 0x80

    /// C strings, followed by a null pointer.
    @unsafe private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    @unsafe private static func free(_ copies: [UnsafeMutablePointer<CChar>?]) {
        for index in unsafe copies.indices { unsafe Glibc.free(copies[index]) }
    }
}
