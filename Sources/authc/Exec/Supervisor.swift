import AuthConnection
import AuthWire
import Glibc

/// What happens to a running program after its token was renewed.
enum RenewalAction: String, CaseIterable {
    case nothing
    /// SIGHUP.
    case hup
    /// The program is stopped and started again.
    case restart
}

/// The parent of a program: passes signals on, follows the session, and ends as the program ends.
struct Supervisor {
    /// The time between SIGTERM and SIGKILL, the same as for `docker stop`.
    private static let stopTime = Duration.seconds(10)
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(10)
    /// How long before its expiry a token is requested again; half of the time left if that is shorter.
    private static let margin = Duration.seconds(60)
    /// The time until the next request if the token could not be renewed.
    private static let repeatTime = Duration.seconds(30)

    private let options: Options
    private let request: TokenRequest
    private let action: RenewalAction
    private let file: TokenFile?
    private let makeProgram: (Credential) throws(Failure) -> ChildProgram

    private let signals: ChildSignals
    private var credential: Credential
    private var child: pid_t = 0
    /// When the program is killed; set while a restart is in progress.
    private var killAt: Deadline?
    /// The program was told to end, so it is not started again.
    private var endingUntil: Deadline?

    private var connection: AgentConnection?
    private var reconnectAt = Deadline.never
    private var pause = Self.firstPause
    /// The request for a token that is in progress, and whether another should follow.
    private var pending: (id: Int64, isOutdated: Bool)?
    private var checkAt = Deadline.never
    private var lastError: String?

    /// - Parameter makeProgram: called for each start.
    init(
        _ options: Options, _ request: TokenRequest, _ credential: Credential, _ action: RenewalAction,
        file: TokenFile?, makeProgram: @escaping (Credential) throws(Failure) -> ChildProgram
    ) throws(Failure) {
        self.options = options
        // The default session may be another one later.
        self.request = request.for(credential.token.session)
        self.credential = credential
        self.action = action
        self.file = file
        self.makeProgram = makeProgram
        signals = try ChildSignals()
    }

    /// - Throws: if the program cannot be started.
    mutating func run() throws(Failure) -> Never {
        do throws(Failure) {
            try file?.write(credential.token.accessToken)
            try start()
        } catch {
            file?.remove()
            throw error
        }
        connect()
        planCheck()
        while true {
            wait()
            while let received = signals.next() { handle(received) }
            try handleEnd()
            readMessages()
            if reconnectAt.hasPassed { connect() }
            if checkAt.hasPassed { requestToken() }
            if let killAt, killAt.hasPassed {
                kill(child, SIGKILL)
                self.killAt = .never
            }
        }
    }

    private mutating func start() throws(Failure) {
        child = try makeProgram(credential).start(mask: signals.inherited)
        killAt = nil
    }

    private func wait() {
        var waited = [
            pollfd(fd: signals.descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection?.fileDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let deadline = min(reconnectAt, checkAt, killAt ?? .never)
        _ = unsafe poll(&waited, nfds_t(waited.count), deadline.pollTimeout)
    }

    // MARK: The program

    private mutating func handle(_ received: ChildSignals.Received) {
        guard received.number != SIGCHLD else { return }
        if let sender = received.sender, sender != child { kill(child, received.number) }
        guard [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(received.number) else { return }
        endingUntil = .after(Self.stopTime)
    }

    /// A signal that ends programs has just been sent. If the program still runs after ``stopTime``, it had another meaning.
    private var isEnding: Bool { endingUntil.map { !$0.hasPassed } ?? false }

    private mutating func handleEnd() throws(Failure) {
        var status: Int32 = 0
        guard unsafe waitpid(child, &status, WNOHANG | WUNTRACED) == child else { return }
        // The low byte of a stopped child (wait(2), WIFSTOPPED).
        guard status & 0xff != 0x7f else { return ChildSignals.stopThis() }
        if killAt != nil, !isEnding {
            do throws(Failure) {
                return try start()
            } catch {
                file?.remove()
                throw error
            }
        }
        file?.remove()
        let signal = status & 0x7f
        guard signal != 0 else { exit(status >> 8 & 0xff) }
        ChildSignals.end(by: signal)
    }

    private mutating func tokenChanged() {
        do throws(Failure) {
            try file?.write(credential.token.accessToken)
        } catch {
            return report(error)
        }
        switch action {
        case .nothing: break
        case .hup: kill(child, SIGHUP)
        case .restart where killAt == nil && !isEnding:
            kill(child, SIGTERM)
            // A stopped program receives SIGTERM only when it continues.
            kill(child, SIGCONT)
            killAt = .after(Self.stopTime)
        case .restart: break
        }
    }

    // MARK: The session

    private mutating func connect() {
        reconnectAt = .never
        do throws(Failure) {
            let path = try options.socketPath()
            do throws(ClientError) {
                let connection = try AgentConnection(path: path, deadline: .now)
                if options.socket == nil { try connection.requireOwnAgent() }
                let subscription = SubscribeParams(topics: [.session], session: credential.token.session)
                _ = try connection.begin(EventsSubscribe(subscription), deadline: .now)
                self.connection = connection
            } catch {
                throw Failure(error, doing: "connect", within: .zero)
            }
        } catch {
            disconnected(error)
        }
    }

    private mutating func disconnected(_ failure: Failure) {
        connection = nil
        pending = nil
        report(failure)
        reconnectAt = .after(pause * Double.random(in: 0.5...1))
        pause = min(pause * 2, Self.longestPause)
    }

    private mutating func readMessages() {
        guard let connection else { return }
        do throws(ClientError) {
            while let message = try connection.nextMessage(deadline: .now) {
                pause = Self.firstPause
                switch message {
                // The first event is a snapshot: the token may have been renewed while the agent was away.
                case .event: requestToken()
                case .answer(let id, let answer) where id == pending?.id: received(answer)
                case .answer(_, .failure(let error)): report(Failure(error))
                case .answer, .unknown: break
                }
            }
        } catch {
            disconnected(Failure(error, doing: "events.subscribe", within: .zero))
        }
    }

    private mutating func requestToken() {
        checkAt = .never
        guard let connection else { return planCheck(afterFailure: true) }
        guard pending == nil else { return pending = pending.map { ($0.id, true) } ?? nil }
        var request = request
        // A token that ends soon is renewed first.
        if let left = credential.token.valid { request.minValid = max(request.minValid ?? .zero, Self.margin(left)) }
        do throws(ClientError) {
            pending = (try connection.begin(request.method, deadline: .after(.seconds(1))), false)
        } catch {
            disconnected(Failure(error, doing: TokenGet.name, within: .zero))
        }
    }

    private mutating func received(_ answer: Result<JSON, AgentError>) {
        let isOutdated = pending?.isOutdated ?? false
        pending = nil
        let former = credential.token.accessToken
        do throws(Failure) {
            let json: JSON
            do throws(AgentError) { json = try answer.get() } catch { throw Failure(error) }
            guard let token = try? TokenResult(json) else { throw .internalError("the agent's token is invalid") }
            try TokenReport.check(token)
            credential = Credential(token, instead: credential)
            lastError = nil
            planCheck()
        } catch {
            report(error)
            planCheck(afterFailure: true)
        }
        if credential.token.accessToken != former { tokenChanged() }
        if isOutdated { requestToken() }
    }

    private mutating func planCheck(afterFailure: Bool = false) {
        if afterFailure { return checkAt = .after(Self.repeatTime) }
        guard let left = credential.token.valid else { return checkAt = .never }
        var wait = max(left - Self.margin(left), .seconds(1))
        // Such a token has no events, and a deadline does not count the machine's sleep.
        if request.scopes != nil || request.audience != nil { wait = min(wait, Self.margin) }
        checkAt = .after(wait)
    }

    private static func margin(_ left: Duration) -> Duration { min(margin, left / 2) }

    /// Reports repeated failures of one kind once: the program's own messages matter more.
    private mutating func report(_ failure: Failure) {
        guard lastError != failure.kind else { return }
        lastError = failure.kind
        failure.report(asJSON: false)
        Output.note("  the command continues with the token that it has")
    }
}
