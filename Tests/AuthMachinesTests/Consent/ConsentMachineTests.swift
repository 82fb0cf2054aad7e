import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Questions about programs")
struct ConsentMachineTests {
    private static func moment(_ elapsed: Duration = .zero) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(100) + elapsed),
            wall: WallTime(unixSeconds: 1_800_000_000 + elapsed.seconds))
    }

    private static let hour = ConsentAnswer.allowed(remembered: .seconds(3600))

    /// Each differs from the first in one part.
    private struct Sample {
        var process: Int32 = 7
        var executable: String? = "/usr/bin/app"
        var isUncertain = false
        var unit: String? = "app.service"
        var identity: ConsentProgram.Identity? = .file(device: 1, inode: 2, hash: "ab")
        var session = "shop"
        var scopes = AccessRequest.Scopes.all
        var listener = ListenerName.api
        var access = AccessClass.token
        var method = "token.get"
        var purpose: String?

        func question() throws -> ConsentQuestion {
            let subject = PresenceSubject(
                processID: process, startTicks: 1, userID: 1000, executable: executable,
                isExecutableUncertain: isUncertain)
            var request = AccessRequest(
                method: method, access: access, target: .named(try SessionName(session)))
            request.scopes = scopes
            return ConsentQuestion(
                ConsentProgram(subject, unit: unit, identity: identity), request, from: listener, purpose: purpose)
        }
    }

    private static func question(_ change: (inout Sample) -> Void = { _ in }) throws -> ConsentQuestion {
        var sample = Sample()
        change(&sample)
        return try sample.question()
    }

    private static func causes(_ turn: ConsentMachine.ConsentTurn) -> [String?] {
        turn.replies.map { if case .failure(let error) = $0.reply { error.cause } else { nil } }
    }

    private static func number(_ turn: ConsentMachine.ConsentTurn) throws -> UInt64 {
        for case .show(_, let number) in turn.actions { return number }
        throw Missing()
    }

    private struct Missing: Error {}

    private static let person = PresenceSubject(processID: 99, startTicks: 1, userID: 1000)

    @Test("requests of one program share a question, others wait for their turn, and an answer counts for its question")
    func order() throws {
        var machine = ConsentMachine(delay: .zero)
        let (mine, other) = (try Self.question(), try Self.question { $0.session = "work" })
        let first = try Self.number(machine.handle(.asked(CallerID(1), mine), at: Self.moment()))
        // Another process of the same program.
        let same = try Self.question { $0.process = 8 }
        #expect(machine.handle(.asked(CallerID(2), same), at: Self.moment()).actions.isEmpty)
        #expect(machine.handle(.asked(CallerID(3), other), at: Self.moment()).actions.isEmpty)
        let answered = machine.handle(.shown(first, .answered(.allowed(remembered: nil))), at: Self.moment())
        #expect(answered.replies.map(\.caller.number) == [1, 2] && Self.causes(answered) == [nil, nil])
        let second = try Self.number(answered)
        #expect(machine.handle(.shown(first, .answered(.refused)), at: Self.moment()).replies.isEmpty)
        let end = machine.handle(.shown(second, .answered(.refused)), at: Self.moment())
        #expect(Self.causes(end) == ["consent_refused"] && end.wakeUp == nil)
        // It was allowed once.
        #expect(try Self.number(machine.handle(.asked(CallerID(4), mine), at: Self.moment(.seconds(300)))) > second)
    }

    @Test("a sign-in on another machine is asked about each time, and a refusal counts for all that use its listener")
    func signIns() throws {
        var machine = ConsentMachine(delay: .zero)
        func question(
            _ process: Int32, _ host: String, _ listener: String = "box", isUncertain: Bool = false
        ) throws -> ConsentQuestion {
            let ssh = PresenceSubject(
                processID: process, startTicks: 1, userID: 1000, executable: "/usr/bin/ssh",
                isExecutableUncertain: isUncertain)
            return ConsentQuestion(
                ConsentProgram(ssh, unit: nil, identity: nil),
                RemoteSignIn(
                    host: host, provider: "Corp", server: "https://id.example", scopes: ["read"], isDevice: false,
                    code: "K7QF2"),
                from: try #require(ListenerName(rawValue: listener)))
        }
        func number(_ caller: UInt64, _ asked: ConsentQuestion) throws -> UInt64 {
            try Self.number(machine.handle(.asked(CallerID(caller), asked), at: Self.moment()))
        }
        let first = try question(7, "build\u{202E}")
        #expect(first.title == "Sign in for another machine?")
        let text = first.lines.joined(separator: "\n")
        #expect(first.lines.first == "Agree only if the terminal of the other machine shows K7QF2")
        for part in ["calls itself: build", "Corp (https://id.example)", "read", "box, by /usr/bin/ssh (process 7)"] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains("\u{202E}"))
        let uncertain = try question(7, "build", isUncertain: true)
        let ssh = "a program that is not verified, shown as /usr/bin/ssh"
        #expect(uncertain.lines.last == "Connected through: box, by \(ssh) (process 7)")
        // An allowance for an hour is not remembered.
        _ = machine.handle(.shown(try number(1, first), .answered(Self.hour)), at: Self.moment())
        _ = machine.handle(.shown(try number(2, first), .answered(.refused)), at: Self.moment())
        // Another connection of the host is another process here.
        let again = machine.handle(.asked(CallerID(3), try question(8, "other")), at: Self.moment())
        #expect(Self.causes(again) == ["consent_paused"])
        _ = try number(4, try question(7, "build", "tool"))
    }

    @Test("a refusal counts for five minutes for every question about the program, and not for others")
    func coolDown() throws {
        var machine = ConsentMachine(delay: .zero)
        let number = try Self.number(machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment()))
        _ = machine.handle(.asked(CallerID(2), try Self.question { $0.session = "work" }), at: Self.moment())
        let refused = machine.handle(.shown(number, .answered(.refused)), at: Self.moment())
        #expect(Self.causes(refused).sorted { ($0 ?? "") < ($1 ?? "") } == ["consent_paused", "consent_refused"])
        #expect(refused.actions.isEmpty)
        let again = machine.handle(
            .asked(CallerID(3), try Self.question { $0.session = "home" }), at: Self.moment(.seconds(299)))
        #expect(Self.causes(again) == ["consent_paused"] && again.actions.isEmpty)
        let other = try Self.question { $0.identity = .file(device: 1, inode: 3, hash: "ab") }
        let asked = try Self.number(machine.handle(.asked(CallerID(4), other), at: Self.moment(.seconds(299))))
        _ = machine.handle(.shown(asked, .answered(.allowed(remembered: nil))), at: Self.moment(.seconds(299)))
        _ = try Self.number(machine.handle(.asked(CallerID(5), try Self.question()), at: Self.moment(.seconds(300))))
    }

    @Test("a refused program that is known only as a process is not asked about after a restart, and an allowed one is")
    func restarted() throws {
        /// - Parameter isRunning: whether the program is identified by its path; otherwise nothing identifies it.
        func question(_ process: Int32, _ isRunning: Bool, path: String, unit: String?) throws -> ConsentQuestion {
            try Self.question {
                ($0.process, $0.executable, $0.unit) = (process, path, unit)
                let subject = PresenceSubject(processID: process, startTicks: 1, userID: 1000, executable: path)
                $0.identity = isRunning ? .running(subject) : nil
            }
        }
        for isRunning in [true, false] {
            for answer in [ConsentAnswer.refused, Self.hour] {
                var machine = ConsentMachine(delay: .zero)
                let first = try question(7, isRunning, path: "/opt/a/app", unit: "a-7.scope")
                let number = try Self.number(machine.handle(.asked(CallerID(1), first), at: Self.moment()))
                let waiting = try question(8, isRunning, path: "/opt/a/app", unit: "a-8.scope")
                _ = machine.handle(.asked(CallerID(2), waiting), at: Self.moment())
                let end = machine.handle(.shown(number, .answered(answer)), at: Self.moment())
                // If the program is allowed, the user is still asked about others at the same path.
                guard answer == .refused else {
                    _ = try Self.number(end)
                    continue
                }
                #expect(Self.causes(end) == ["consent_paused", "consent_refused"] && end.actions.isEmpty)
                func isPaused(_ question: ConsentQuestion, _ elapsed: Duration = .seconds(299)) -> Bool {
                    var copy = machine
                    return Self.causes(copy.handle(.asked(CallerID(3), question), at: Self.moment(elapsed)))
                        == ["consent_paused"]
                }
                let samePath = try question(9, isRunning, path: "/opt/a/app", unit: "a-9.scope")
                #expect(isPaused(samePath) && !isPaused(samePath, .seconds(300)))
                #expect(try isPaused(question(9, isRunning, path: "/opt/b/app", unit: "a-7.scope")))
                #expect(try !isPaused(question(9, isRunning, path: "/opt/b/app", unit: "a-9.scope")))
                #expect(try !isPaused(question(9, isRunning, path: "/opt/b/app", unit: nil)))
                // Refusals of programs that only claim a path do not apply to a program whose file is known.
                #expect(try !isPaused(Self.question { ($0.executable, $0.unit) = ("/opt/a/app", "a-7.scope") }))
            }
        }
    }

    @Test("no answer within a minute is a refusal, even if nothing can be shown, and so is leaving")
    func unanswered() throws {
        for leaves in [false, true] {
            var machine = ConsentMachine(delay: .zero)
            let asked = machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment())
            let number = try Self.number(asked)
            #expect(asked.wakeUp == Self.moment(.seconds(60)).boot)
            #expect(machine.handle(.shown(number, .notShown), at: Self.moment()).replies.isEmpty)
            let end = machine.handle(
                leaves ? .callerGone(CallerID(1)) : .wake, at: Self.moment(.seconds(leaves ? 1 : 60)))
            #expect(end.actions == [.withdraw(number)] && end.wakeUp == nil)
            #expect(Self.causes(end) == (leaves ? [] : ["consent_refused"]))
            #expect(machine.handle(.shown(number, .answered(Self.hour)), at: Self.moment(.seconds(61))).replies.isEmpty)
            let again = machine.handle(.asked(CallerID(2), try Self.question()), at: Self.moment(.seconds(61)))
            #expect(Self.causes(again) == ["consent_paused"])
        }
    }

    @Test("a question that nobody can answer fails at once; that is not a refusal, and the next question is asked")
    func unanswerable() throws {
        var machine = ConsentMachine(delay: .zero)
        let number = try Self.number(machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment()))
        _ = machine.handle(.asked(CallerID(2), try Self.question()), at: Self.moment())
        _ = machine.handle(.asked(CallerID(3), try Self.question { $0.session = "work" }), at: Self.moment())
        let end = machine.handle(.shown(number, .unanswerable), at: Self.moment())
        #expect(end.replies.map(\.caller.number) == [1, 2])
        #expect(Self.causes(end) == ["consent_unavailable", "consent_unavailable"])
        let next = try Self.number(end)
        #expect(machine.handle(.shown(number, .unanswerable), at: Self.moment()).replies.isEmpty)
        #expect(Self.causes(machine.handle(.shown(next, .unanswerable), at: Self.moment())) == ["consent_unavailable"])
        // Somebody may be there later.
        _ = try Self.number(machine.handle(.asked(CallerID(4), try Self.question()), at: Self.moment(.seconds(1))))
    }

    @Test(
        "an allowance is remembered for its time, for the same file, session, scopes, listener and class, until the lock"
    )
    func remembered() throws {
        var machine = ConsentMachine(delay: .zero)
        let number = try Self.number(machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment()))
        _ = machine.handle(.shown(number, .answered(Self.hour)), at: Self.moment())
        func isAsked(_ elapsed: Duration = .zero, _ change: (inout Sample) -> Void = { _ in }) throws -> Bool {
            var copy = machine
            return try !copy.handle(.asked(CallerID(2), Self.question(change)), at: Self.moment(elapsed)).actions
                .isEmpty
        }
        #expect(try !isAsked(.seconds(3599)))
        #expect(try isAsked(.seconds(3600)))
        #expect(try !isAsked { $0.process = 8 })
        #expect(try !isAsked { $0.unit = "other.service" })
        #expect(try isAsked { $0.identity = .file(device: 1, inode: 2, hash: "cd") })
        #expect(try isAsked { $0.identity = .file(device: 1, inode: 3, hash: "ab") })
        #expect(try isAsked { $0.identity = .unit("app.service") })
        #expect(try isAsked { $0.session = "work" })
        #expect(try isAsked { $0.scopes = .listed(["read"]) })
        #expect(try isAsked { $0.listener = .dbus })
        #expect(try isAsked { $0.access = .act })
        _ = machine.handle(.locked, at: Self.moment())
        #expect(try isAsked())

        // Methods that change the agent have little in common.
        let reload = try Self.question { ($0.access, $0.method) = (.admin, "agent.reload") }
        let change = try Self.number(machine.handle(.asked(CallerID(5), reload), at: Self.moment()))
        _ = machine.handle(.shown(change, .answered(Self.hour)), at: Self.moment())
        #expect(try !isAsked { ($0.access, $0.method) = (.admin, "agent.reload") })
        #expect(try isAsked { ($0.access, $0.method) = (.admin, "policy.apply") })

        // A program of which nothing lasting is known is asked about each time.
        let unknown = try Self.question { $0.identity = nil }
        let next = try Self.number(machine.handle(.asked(CallerID(3), unknown), at: Self.moment()))
        _ = machine.handle(.shown(next, .answered(Self.hour)), at: Self.moment())
        #expect(try isAsked { $0.identity = nil })
    }

    @Test("an answer on a terminal ends the question, but not one of the process that it is about, nor a late one")
    func terminal() throws {
        var machine = ConsentMachine(delay: .zero)
        let asked = machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment())
        let number = try Self.number(asked)
        let list = machine.handle(.listRequested(CallerID(2)), at: Self.moment())
        guard case .questions(let questions)? = list.replies.first?.reply else {
            Issue.record("no list")
            return
        }
        #expect(questions.map(\.number) == [Int(number)] && questions.first?.exe == "/usr/bin/app")
        #expect(questions.first?.exeUncertain == nil)
        #expect(questions.first?.endsAt == Self.moment(.seconds(60)).wall.unixSeconds)
        let own = PresenceSubject(processID: 7, startTicks: 1, userID: 1000)
        let refused = machine.handle(
            .answered(CallerID(3), question: number, Self.hour, by: own), at: Self.moment())
        #expect(Self.causes(refused) == ["own_question"] && refused.actions.isEmpty)
        let end = machine.handle(
            .answered(CallerID(4), question: number, Self.hour, by: Self.person), at: Self.moment())
        #expect(end.replies.map(\.caller.number) == [1, 4] && Self.causes(end) == [nil, nil])
        #expect(end.actions == [.withdraw(number)])
        let late = machine.handle(
            .answered(CallerID(5), question: number, .refused, by: Self.person), at: Self.moment())
        if case .failure(let error)? = late.replies.first?.reply { #expect(error.kind == .notFound) }
    }

    @Test("the question names the whole path and the unit, and no character misleads its reader")
    func text() throws {
        let path = "/home/user/" + String(repeating: "d", count: 300) + "/app\u{202E}gpj.\n"
        let lines = try Self.question {
            $0.executable = path
            $0.purpose = "sync\nUnit: trusted.service"
            $0.scopes = .listed(["read", "write"])
            $0.listener = .extra
        }.lines
        #expect(lines[0].contains(String(repeating: "d", count: 300) + "/app\\u{202e}gpj.\\u{a}"))
        #expect(lines[1] == "Unit: app.service" && lines.count == 6)
        #expect(lines[3] == "Scopes: read write" && lines[4] == "Connected through: extra")
        #expect(lines[5] == "The program says: sync\\u{a}Unit: trusted.service")
        let bare = try Self.question {
            ($0.executable, $0.unit, $0.identity) = (nil, nil, nil)
        }.lines
        #expect(bare[0] == "Program: unknown (process 7)" && bare[1] == "Unit: none")
        #expect(
            try Self.question { $0.isUncertain = true }.lines[0]
                == "Program: not verified, shown as /usr/bin/app (process 7)")
    }

    @Test("a program that leaves at once has asked nothing")
    func delay() throws {
        var machine = ConsentMachine()
        let asked = machine.handle(.asked(CallerID(1), try Self.question()), at: Self.moment())
        #expect(asked.actions.isEmpty && asked.wakeUp == Self.moment(ConsentMachine.usualDelay).boot)
        let gone = machine.handle(.callerGone(CallerID(1)), at: Self.moment(.milliseconds(250)))
        #expect(gone.actions.isEmpty && gone.wakeUp == nil)
        // It is no refusal: the next one is asked.
        for _ in 1...3 {
            _ = machine.handle(.asked(CallerID(2), try Self.question()), at: Self.moment(.seconds(1)))
            _ = machine.handle(.callerGone(CallerID(2)), at: Self.moment(.seconds(1)))
        }
        _ = machine.handle(.asked(CallerID(3), try Self.question()), at: Self.moment(.seconds(2)))
        #expect(machine.handle(.wake, at: Self.moment(.seconds(2) + ConsentMachine.usualDelay)).actions.count == 1)
    }

    @Test("only a few questions wait")
    func crowd() throws {
        var machine = ConsentMachine(delay: .zero)
        for number in 0...ConsentMachine.mostWaiting {
            let question = try Self.question { $0.session = "s\(number)" }
            #expect(machine.handle(.asked(CallerID(UInt64(number)), question), at: Self.moment()).replies.isEmpty)
        }
        let turn = machine.handle(.asked(CallerID(90), try Self.question { $0.session = "last" }), at: Self.moment())
        #expect(Self.causes(turn) == ["consent_waiting"])
        guard case .failure(let error) = turn.replies.first?.reply else {
            Issue.record("\(turn.replies)")
            return
        }
        #expect(error.retryAfter == AgentError.retryWhenBusy)
    }
}
