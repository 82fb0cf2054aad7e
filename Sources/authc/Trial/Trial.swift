import AuthConnection
import AuthWire
import Glibc

/// `authc try`: the main job with an agent and a provider that only exist for it.
struct Trial {
    /// For the start of the agent and of the provider, and for each answer of the provider.
    private static let startTime = Duration.seconds(15)
    private static let checkTime = Duration.milliseconds(20)
    /// A quarter of the life of the first token, and a little more: a younger one is not renewed on request.
    private static let age = Duration.milliseconds(3200)
    private static let callers = 5
    private static let longestOutput = 64 << 10
    private static let provider = "demo"

    private let place: TrialPlace
    private let screen: TrialScreen
    private let signals: Signals
    private let server: TrialServer

    static func run() throws(Failure) -> ExitStatus {
        let signals = try Signals([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE])
        let start = WallClock.now
        defer { TrialPlace.removeOrReport() }
        do throws(Failure) {
            let trial = try Trial(signals)
            try trial.run()
            try TrialPlace.remove()
            let time = Span.text(seconds: WallClock.now - start)
            try trial.screen.words(
                "\nIt worked, in \(time), and everything was removed. Sign in for real: `authc login`.")
        } catch {
            // A child may have ended by the same signal first.
            _ = signals.wait(until: .now)
            guard let number = signals.consume() else { throw error }
            TrialPlace.removeOrReport()
            // Ends the program by the signal, so that a script's shell stops too.
            signals.performDefault(number)
            throw error
        }
        return .done
    }

    private init(_ signals: Signals) throws(Failure) {
        self.signals = signals
        screen = TrialScreen(screen: .current)
        place = try TrialPlace()
        server = try TrialServer(place, signals, within: Self.startTime)
    }

    private func run() throws(Failure) {
        try screen.words("It uses a separate agent and provider; your own are not used. ^C ends it.\n")
        try startAgent()
        try signIn()
        try shareRenewal()
        try call()
        try loseNetwork()
        try signOut()
    }

    // MARK: Steps

    private func startAgent() throws(Failure) {
        let key = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        try place.write(key, to: "key")
        let settings = "sealed_key = \(ProfileDraft.quoted(place.path + "/key"))\n"
        try place.write(settings.utf8, to: "config/authd/authd.toml")
        try place.write(server.profile.utf8, to: "config/authd/providers/\(Self.provider).toml")
        try screen.command("authd --store sealed-file")
        let log = try place.open("log", O_WRONLY | O_CREAT | O_APPEND)
        let agent = try place.start(
            TrialCommand.endingWithThis([InstalledProgram.agent, "--store", "sealed-file"]),
            [(STDOUT_FILENO, log), (STDERR_FILENO, log)])
        let deadline = Deadline.after(Self.startTime)
        while true {
            let info = try? Options(timeout: .seconds(1)).connect().call(AgentInfoGet()).value
            if info?.store.state == .ready { break }
            guard place.isRunning(agent), !deadline.hasPassed else { throw failure("authd did not start") }
            try wait(Self.checkTime)
        }
        try screen.result("runs, with sealed files in \(place.path)")
    }

    private func signIn() throws(Failure) {
        try place.write(server.password.utf8, to: "password")
        let words = ["login", Self.provider, "--field", "email=\(server.email)", "--password-stdin"]
        try screen.command("authc \(words.joined(separator: " ")) < password")
        _ = try output(of: words, input: "password")
        try server.expect("signed_in")
        try screen.result("signed in as \(server.email)")
    }

    private func shareRenewal() throws(Failure) {
        try screen.command("authc token")
        let first = try output(of: ["token"])
        try screen.result(first)
        try wait(Self.age)
        let words = ["token", "--min-valid", "10s"]
        let numbers = (1...Self.callers).map(String.init).joined(separator: " ")
        try screen.command("for i in \(numbers); do authc \(words.joined(separator: " ")) & done; wait")
        let running = try (1...Self.callers).map { _ throws(Failure) in try begin(words) }
        let tokens = try running.map { program throws(Failure) in try output(of: program, words) }
        // Usually for these callers. If the machine is very slow, authd has renewed it by itself.
        try server.expect("renewed")
        guard Set(tokens).count == 1, let token = tokens.first, token != first else {
            throw failure("the programs got these tokens: \(tokens.joined(separator: " "))")
        }
        let times = screen.screen.isUnicode ? "×" : "x"
        try screen.result("\(Self.callers) \(times) \(token): the provider was asked once")
    }

    private func call() throws(Failure) {
        try screen.command("authc call me")
        try screen.result(try output(of: ["call", "me"]))
    }

    private func loseNetwork() throws(Failure) {
        try server.sendCommand("away")
        try screen.note("The provider cannot be reached any more.")
        try screen.command("authc refresh")
        let refresh = try ended(begin(["refresh"]))
        guard refresh.status == ExitStatus.temporary.rawValue else { throw failure(["refresh"], refresh) }
        let reason = refresh.output.split(separator: "\n").first.map(String.init) ?? ""
        try screen.result("\(reason) [exit status \(refresh.status)]")
        try screen.command("authc token")
        let token = try output(of: ["token"])
        try screen.result("\(token): still valid, and the session is kept")
        try server.sendCommand("back")
        try screen.note("The provider is back.")
        try screen.command("authc refresh")
        _ = try output(of: ["refresh"])
        try server.expect("renewed")
        try screen.result("renewed")
    }

    private func signOut() throws(Failure) {
        try screen.command("authc logout")
        _ = try output(of: ["logout"])
        try server.expect("signed_out", skippingRenewals: true)
        try screen.result("signed out, at the provider too")
    }

    // MARK: Programs

    private struct Running {
        let child: pid_t
        let output: Descriptor
    }

    private func begin(_ words: [String], input: String? = nil) throws(Failure) -> Running {
        var pipe = try PipeEnds()
        let input = try input.map { name throws(Failure) in try place.open(name, O_RDONLY) }
        var files = [STDOUT_FILENO, STDERR_FILENO].compactMap { number in pipe.writing.map { (number, $0) } }
        if let input { files.append((STDIN_FILENO, input)) }
        let child = try place.start([try InstalledProgram.own()] + words, files)
        files = []
        pipe.writing = nil
        return Running(child: child, output: pipe.reading)
    }

    private func ended(_ program: Running) throws(Failure) -> (status: Int32, output: String) {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        let output = program.output.number
        while true {
            guard signals.wait(for: .readable(output), until: .never) == .ready else { throw .interrupted }
            let count = unsafe read(output, &part, part.count)
            guard count > 0, bytes.count < Self.longestOutput else { break }
            bytes += part[..<count]
        }
        return (place.end(of: program.child), String(decoding: bytes, as: UTF8.self).trimmed)
    }

    private func output(of words: [String], input: String? = nil) throws(Failure) -> String {
        try output(of: begin(words, input: input), words)
    }

    private func output(of program: Running, _ words: [String]) throws(Failure) -> String {
        let result = try ended(program)
        guard result.status == 0 else {
            try server.expectRunning()
            throw failure(words, result)
        }
        return result.output
    }

    private func wait(_ time: Duration) throws(Failure) {
        guard signals.wait(until: .after(time)) == .deadline else { throw .interrupted }
    }

    private func failure(_ words: [String], _ result: (status: Int32, output: String)) -> Failure {
        failure("`authc \(words.joined(separator: " "))` ended with status \(result.status): \(result.output)")
    }

    /// With the last words of the agent.
    private func failure(_ message: String) -> Failure {
        let log = (try? FileText.read(place.path + "/log", atMost: 4 << 20)) ?? ""
        let last = log.split(separator: "\n").suffix(3).joined(separator: "\n")
        return Failure(
            status: .internalError, kind: ErrorKind.internal_.rawValue, message: message,
            hint: last.isEmpty ? nil : "the agent's log ends with:\n\(last)")
    }
}

extension Failure {
    /// By a signal that is not handled yet.
    static var interrupted: Failure { Failure(ClientError.cancelled, doing: "", within: .zero) }
}
