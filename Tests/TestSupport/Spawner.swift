import CLinux
import Foundation
import Synchronization

/// The one thread that begins processes, alive as long as the runner is.
final class Spawner: Sendable {
    static let shared = Spawner()
    private let queue = Mutex<[@Sendable () -> Void]>([])
    private let work = DispatchSemaphore(value: 0)

    private init() {
        // A child may go without reading what is written to it.
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [self] in
            while true {
                work.wait()
                queue.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
            }
        }
    }

    func run(_ job: @escaping @Sendable () -> Void) {
        queue.withLock { $0.append(job) }
        work.signal()
    }

    struct Spawned: Sendable {
        let pid: pid_t
        /// Our ends of its pipes.
        let input: ChildInput
        let output: Int32
        let error: Int32
    }

    /// Called on the one thread, so that no child is begun while a pipe is not yet closed on exec.
    /// - Parameters:
    ///   - terminal: its input, output and errors instead of the pipes.
    ///   - passed: become its descriptors from 3 on; they stay the caller's.
    static func spawn(
        _ command: [String], _ environment: [String: String], terminal: Int32? = nil, passed: [Int32] = []
    ) -> Result<Spawned, Failure> {
        let (input, output, error) = (pipe(), pipe(), pipe())
        defer { for end in [input.read, output.write, error.write] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input.read, output.write, error.write].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, terminal ?? descriptor, Int32(number))
        }
        // By way of high numbers, where none is in another's place.
        let high = passed.map { fcntl($0, F_DUPFD_CLOEXEC, 900) }
        defer { for descriptor in high { close(descriptor) } }
        for (number, descriptor) in high.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, 3 + Int32(number))
        }
        // Not every library of the runner closes its sockets on exec, and a child that holds one keeps it alive.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3 + Int32(passed.count))
        // The runner's threads block signals and ignore SIGPIPE, and a child would inherit that. Started in the
        // background or with nohup, the runner ignores more signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for number in [SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&usual, number) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid = pid_t()
        let number = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &variables)
        guard number == 0 else {
            for end in [input.write, output.read, error.read] { close(end) }
            return .failure(Failure("\(command): \(String(cString: strerror(number)))"))
        }
        return .success(Spawned(pid: pid, input: ChildInput(input.write), output: output.read, error: error.read))
    }

    private static func pipe() -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        _ = Foundation.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
