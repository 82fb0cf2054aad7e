package import Foundation

/// A process of a test's own: it ends with the test, and with the test runner however that ends.
package final class Child: Sendable {
    package struct Output: Sendable {
        /// Its exit status; 128 + n for signal n.
        package let status: Int32
        package let out: String
        package let err: String
    }

    /// What a child reads and where it writes.
    package enum Input: Sendable {
        /// Nothing: its input has ended before it begins.
        case none
        /// This, and then the end.
        case text(String)
        /// Nothing until ``Child/endInput()``.
        case held
        /// This descriptor is its input, output and errors; it is the caller's to close.
        case terminal(Int32)
    }

    package let pid: pid_t
    package let out: Gathered
    package let err: Gathered
    private let input: ChildInput
    private let exit = Signal<Int32>()

    /// - Parameter passed: becomes its descriptors from 3 on; the caller closes its own.
    package init(
        _ command: [String], environment: [String: String], input: Input = .none, passed: [Int32] = []
    ) async throws {
        let spawned = Signal<Result<Spawner.Spawned, Failure>>()
        let terminal: Int32? = if case .terminal(let descriptor) = input { descriptor } else { nil }
        Spawner.shared.run {
            // The kernel ends it when the spawning thread does (prctl(2), PR_SET_PDEATHSIG): at the runner's own end.
            let bound = ["setpriv", "--pdeathsig", "KILL", "--"] + command
            spawned.send(Spawner.spawn(bound, environment, terminal: terminal, passed: passed))
        }
        let child = try await spawned.value().get()
        out = Gathered(child.output)
        err = Gathered(child.error)
        self.input = child.input
        switch input {
        case .text(let text): Thread.detachNewThread { child.input.write(Array(text.utf8)) }
        case .held: break
        case .none, .terminal: child.input.end()
        }
        pid = child.pid
        let (pid, exit) = (child.pid, exit)
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            exit.send(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
        }
    }

    /// A line for an input that is ``Input/held``.
    package func tell(_ line: String) { input.put(Array((line + "\n").utf8)) }

    package func kill(_ signal: Int32) {
        // Its number is its own until it has been waited for.
        if !exit.isSent { Foundation.kill(pid, signal) }
    }

    /// The end of an input that was ``Input/held``.
    package func endInput() { input.end() }

    /// Calls back once it has ended, at once if it has.
    package func whenEnded(_ callback: @escaping @Sendable (Int32) -> Void) { exit.whenSent(callback) }

    /// Its exit status, 128 + n for signal n, once it has ended. A test whose time limit is reached ends it.
    package func ended() async -> Int32 {
        await withTaskCancellationHandler {
            await exit.value()
        } onCancel: {
            kill(SIGKILL)
        }
    }

    /// Ends it, and waits for its end.
    @discardableResult
    package func end(_ signal: Int32 = SIGTERM) async -> Int32 {
        kill(signal)
        return await ended()
    }

    package func output() async -> Output {
        let status = await ended()
        return Output(status: status, out: await out.all(), err: await err.all())
    }

    deinit {
        kill(SIGKILL)
    }
}
