import AuthConcurrency
import AuthFiles
import AuthMachines
import AuthModel
import AuthProcesses
package import AuthWire
import Glibc
import Synchronization

/// Reads clients' profiles and access rules in a separate process, ``ProfileCheckProgram``, one at a time.
///
/// Invariant: each child has ended before the next one starts, and before its caller gets a response.
package actor ProfileCheckProcess {
    /// For the life of a child: far above its limit of processor time, even if every processor is busy.
    private static let defaultTimeout = Duration.seconds(20)
    /// Callers that may wait for their turn. A check takes some hundredths of a second.
    private static let maxWaiting = 16

    private let program: String
    private let arguments: [String]
    private let timeout: Duration
    private let lock = AsyncLock()
    /// The number of those that wait, and of the one that is served.
    private var callers = 0

    /// Runs the program of this process, even if its file was replaced.
    package init() {
        self.init(program: "/proc/self/exe", arguments: [ProfileCheckProgram.argument])
    }

    /// - Parameter arguments: without the program's name.
    init(program: String, arguments: [String], timeout: Duration = defaultTimeout) {
        self.program = program
        self.arguments = arguments
        self.timeout = timeout
    }

    package func check(_ params: ProviderCheckRun) async throws(AgentError) -> ProviderCheck {
        try await read(ProfileQuestion(text: params.text, file: params.file)).check
    }

    /// - Returns: the problems of the text; without any, the requests to try or the access rules.
    /// - Throws: `busy` if too many callers wait, `internal` if the child could not be started or failed.
    package func read(_ question: ProfileQuestion) async throws(AgentError) -> ProfileReading {
        guard callers <= Self.maxWaiting else {
            throw AgentError(
                .busy, "\(Self.maxWaiting) checks of profiles or rules are already waiting.",
                cause: "provider_check", retryAfter: AgentError.retryWhenBusy)
        }
        callers += 1
        defer { callers -= 1 }
        let answer = await lock.withLock { await self.answer(to: question.json.serialized()) }
        guard !Task.isCancelled, let answer else { throw .stopping }
        switch answer {
        case .success(let bytes):
            guard let json = try? JSON(parsing: bytes), let reading = try? ProfileReading(json) else {
                throw Self.failed("its process returned no result", question)
            }
            return reading
        case .failure(let failure): throw Self.failed(failure.reason, question)
        }
    }

    /// The output of the child. If the caller's task is cancelled, the child is killed.
    private func answer(to request: [UInt8]) async -> Result<[UInt8], ChildFailure> {
        let isGivenUp = GivenUp()
        return await withTaskCancellationHandler {
            // A thread that may block: it waits for the child.
            await BlockingThread().complete { [program, arguments, timeout] in
                Result { () throws(ChildFailure) in
                    try ChildProcess(program, arguments).answer(to: request, within: timeout, unless: isGivenUp)
                }
            }
        } onCancel: {
            isGivenUp.flag.store(true, ordering: .relaxed)
        }
    }

    private static func failed(_ reason: String, _ question: ProfileQuestion) -> AgentError {
        let message =
            question.isPolicy
            ? "The access rules could not be read: \(reason)."
            : "The profile could not be checked: \(reason). `authd --check` checks the profiles in their folders."
        return AgentError(.internal_, message, cause: "provider_check")
    }
}

private struct ChildFailure: Error {
    let reason: String
}

/// Set when the caller has gone.
private final class GivenUp: Sendable {
    let flag = Atomic(false)
}

/// A process whose stdin and stdout are one socket: it reads one request and writes one response.
private struct ChildProcess {
    /// How soon a cancelled caller is noticed.
    private static let pollMilliseconds: Int64 = 100

    private let pid: pid_t
    private let socket: CInt

    /// Without environment, and without descriptors except stderr.
    init(_ program: String, _ arguments: [String]) throws(ChildFailure) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ChildFailure(reason: "\(SystemFailure("create a pair of sockets"))")
        }
        defer { close(ends[1]) }
        do throws(SystemFailure) {
            var start = try ProgramStart(["authd"] + arguments, program: program)
            start.pass(ends[1], as: STDIN_FILENO)
            start.pass(ends[1], as: STDOUT_FILENO)
            // All our descriptors are closed on exec. This includes those of libraries.
            start.close(from: STDERR_FILENO + 1)
            // The thread that starts it may block them all, and a child inherits that.
            start.blockNoSignal()
            start.environment = []
            (pid, socket) = (try start.start(), ends[0])
        } catch {
            close(ends[0])
            throw ChildFailure(reason: "\(SystemFailure("start its process", number: error.number))")
        }
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
    }

    /// Returns after its end. It is killed if it takes too long, writes too much, or the caller has gone.
    func answer(
        to request: [UInt8], within timeout: Duration, unless isGivenUp: GivenUp
    ) throws(ChildFailure) -> [UInt8] {
        let answer = exchange(request, until: ContinuousClock.now + timeout, unless: isGivenUp)
        if answer == nil { kill(pid, SIGKILL) }
        close(socket)
        let end = ProcessEnd(of: pid)
        guard let answer else {
            throw ChildFailure(reason: "its process took longer than \(timeout) or wrote too much, and was killed")
        }
        switch end {
        case .exit(status: 0): return answer
        case .exit(let status): throw ChildFailure(reason: "its process ended with status \(status)")
        case .signal(let number): throw ChildFailure(reason: "signal \(number) ended its process")
        }
    }

    /// - Returns: its output until it closed it; `nil` if that took too long or was too much.
    private func exchange(
        _ request: [UInt8], until deadline: ContinuousClock.Instant, unless isGivenUp: GivenUp
    ) -> [UInt8]? {
        var rest = request[...]
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while answer.count <= ProfileCheckProgram.maxBytes, !isGivenUp.flag.load(ordering: .relaxed) {
            let left = (deadline - ContinuousClock.now).wholeMilliseconds
            guard left > 0 else { return nil }
            let events = rest.isEmpty ? POLLIN : POLLIN | POLLOUT
            var waited = pollfd(fd: socket, events: Int16(events), revents: 0)
            guard unsafe poll(&waited, 1, CInt(min(left, Self.pollMilliseconds))) > 0 else { continue }
            if !rest.isEmpty, waited.revents & Int16(POLLOUT) != 0 {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                if count > 0 { rest = rest.dropFirst(count) }
                // It closed its end before it read everything: its response or its exit status says why.
                if count < 0, errno != EAGAIN, errno != EINTR { rest = [] }
                if rest.isEmpty { shutdown(socket, CInt(SHUT_WR)) }
            }
            guard waited.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
            let count = unsafe read(socket, &buffer, buffer.count)
            if count > 0 { answer += buffer[..<count] }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return answer }
        }
        return nil
    }
}
