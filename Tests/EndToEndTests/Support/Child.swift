import Foundation
import Synchronization

/// A process of a test's own: it ends with the test, and with the test runner however that ends.
final class Child: Sendable {
    struct Output: Sendable {
        let status: Int32
        let out: String
        let err: String
    }

    let pid: pid_t
    let out: Gathered
    let err: Gathered
    private let exit = Signal<Int32>()

    /// - Parameter input: written to its standard input, which then ends; `nil`: no input at all.
    init(_ command: [String], environment: [String: String], input: String? = nil) async throws {
        let spawned = Signal<Result<Spawner.Spawned, Failure>>()
        Spawner.shared.run {
            // The kernel ends it when the spawning thread does (prctl(2), PR_SET_PDEATHSIG): at the runner's own end.
            spawned.send(Spawner.spawn(["setpriv", "--pdeathsig", "KILL", "--"] + command, environment))
        }
        let child = try await spawned.value().get()
        out = Gathered(child.output)
        err = Gathered(child.error)
        let bytes = Array((input ?? "").utf8)
        // Smaller than any pipe: it never waits.
        bytes.withUnsafeBytes { _ = write(child.input, $0.baseAddress, $0.count) }
        close(child.input)
        pid = child.pid
        let (pid, exit) = (child.pid, exit)
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            exit.send(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
        }
    }

    func kill(_ signal: Int32) {
        // Its number is its own until it has been waited for.
        if !exit.isSent { Foundation.kill(pid, signal) }
    }

    /// Calls back once it has ended, at once if it has.
    func whenEnded(_ callback: @escaping @Sendable (Int32) -> Void) { exit.whenSent(callback) }

    /// Its exit status, 128 + n for signal n, once it has ended.
    func ended() async -> Int32 { await exit.value() }

    /// Ends it, and waits for its end.
    @discardableResult
    func end(_ signal: Int32 = SIGTERM) async -> Int32 {
        kill(signal)
        return await ended()
    }

    func output() async -> Output {
        let status = await ended()
        return Output(status: status, out: await out.all(), err: await err.all())
    }

    deinit {
        kill(SIGKILL)
    }
}

/// The one thread that begins processes, alive as long as the runner is.
final class Spawner: Sendable {
    static let shared = Spawner()
    private let queue = Mutex<[@Sendable () -> Void]>([])
    private let work = DispatchSemaphore(value: 0)

    private init() {
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
        let input: Int32
        let output: Int32
        let error: Int32
    }

    /// Called on the one thread, so that no child is begun while a pipe is not yet closed on exec.
    static func spawn(_ command: [String], _ environment: [String: String]) -> Result<Spawned, Failure> {
        let (input, output, error) = (pipe(), pipe(), pipe())
        defer { for end in [input.read, output.write, error.write] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input.read, output.write, error.write].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // Not every library of the runner closes its sockets on exec, and a child that holds one keeps it alive.
        for descriptor in Int32(3)..<1024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        // The runner's threads block signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid = pid_t()
        let number = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, &variables)
        guard number == 0 else {
            for end in [input.write, output.read, error.read] { close(end) }
            return .failure(Failure("\(command): \(String(cString: strerror(number)))"))
        }
        return .success(Spawned(pid: pid, input: input.write, output: output.read, error: error.read))
    }

    private static func pipe() -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        _ = Foundation.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}

/// A value that comes once; whoever waits, before or after, gets it.
final class Signal<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [@Sendable (Value) -> Void] = []
    }
    private let state = Mutex(State())

    func send(_ value: Value) {
        let waiting = state.withLock { state -> [@Sendable (Value) -> Void] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for callback in waiting { callback(value) }
    }

    var isSent: Bool { state.withLock { $0.value != nil } }

    func whenSent(_ callback: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.waiting.append(callback) }
            return state.value
        }
        if let value { callback(value) }
    }

    func value() async -> Value {
        await withCheckedContinuation { continuation in
            whenSent { continuation.resume(returning: $0) }
        }
    }
}

/// What a pipe brings, kept whole and searched while it grows.
final class Gathered: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var ended = false
        var waiting: [(pattern: String?, continuation: CheckedContinuation<Bool, Never>)] = []
    }
    private let state = Mutex(State())

    /// Reads the descriptor to its end, and closes it.
    init(_ descriptor: Int32) {
        Thread.detachNewThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                self?.take(Array(buffer[..<max(0, count)]))
                if count <= 0 { break }
            }
            close(descriptor)
        }
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Everything, once the pipe has ended.
    func all() async -> String {
        await wait(for: nil)
        return text
    }

    /// Whether the text came, before the pipe ended.
    @discardableResult
    func wait(for pattern: String?) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if let found = Self.answer(pattern, state) { return found }
                state.waiting.append((pattern, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func take(_ bytes: [UInt8]) {
        let answered = state.withLock { state in
            state.bytes += bytes
            if bytes.isEmpty { state.ended = true }
            var answered: [(CheckedContinuation<Bool, Never>, Bool)] = []
            var still = state.waiting
            still.removeAll { waiter in
                guard let answer = Self.answer(waiter.pattern, state) else { return false }
                answered.append((waiter.continuation, answer))
                return true
            }
            state.waiting = still
            return answered
        }
        for (continuation, answer) in answered { continuation.resume(returning: answer) }
    }

    private static func answer(_ pattern: String?, _ state: State) -> Bool? {
        if let pattern, String(decoding: state.bytes, as: UTF8.self).contains(pattern) { return true }
        return state.ended ? pattern == nil : nil
    }
}
