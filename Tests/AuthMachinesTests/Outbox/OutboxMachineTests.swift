import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Writes that wait")
struct OutboxMachineTests {
    static let shop = try? SessionName("shop")
    static let open = Deliverability(maySend: true, isReached: true, since: 1)
    static let away = AgentError(.providerUnreachable, "No connection.")
    static let no = AgentError(.notFound, "No such thing.", httpStatus: 404, providerMessage: "No such decision")

    static func entry(_ id: String, in session: String = "shop") throws -> OutboxEntry {
        OutboxEntry(
            id: id, session: try SessionName(session), owner: .init(provider: "p", environment: "e", userID: "7"),
            title: "vote", idempotencyKey: "key-\(id)", queuedAt: WallTime(unixSeconds: 1))
    }

    /// A machine that sees its sessions, and a clock.
    struct ScriptedRun {
        var machine = OutboxMachine(seed: 7)
        var elapsed = Duration.zero
        var wake: BootInstant?
        var sent: [String] = []
        var answers: [String: OutboxReply] = [:]
        var told: [String] = []

        var now: Moment { ManualClock.moment(elapsed) }

        init(sights: [String: Deliverability] = ["shop": OutboxMachineTests.open]) throws {
            see(try sights.reduce(into: [:]) { $0[try SessionName($1.key)] = $1.value })
        }

        mutating func see(_ sights: [SessionName: Deliverability]) { handle(.looked(sights)) }

        @discardableResult
        mutating func handle(_ event: OutboxEvent) -> [OutboxAction] {
            let actions = machine.handle(event, at: now)
            for action in actions {
                switch action {
                case .send(let entry): sent.append(entry.id)
                case .answer(let id, let answer): answers[id] = answer
                case .tell(let name, let item): told.append("\(name) \(item.id)")
                case .wakeAt(let deadline): wake = deadline
                case .remove, .note: break
                }
            }
            return actions
        }

        mutating func add(_ ids: String..., awaited: Bool = true) throws {
            for id in ids { handle(.added(try OutboxMachineTests.entry(id), isAwaited: awaited)) }
        }

        mutating func answer(_ id: String, _ result: Result<APIResponse, AgentError>) {
            handle(.answered(id, result))
        }

        mutating func done(_ id: String) {
            answer(id, .success(APIResponse(status: 200)))
            handle(.settled(id, nil))
        }

        mutating func waitForWake() {
            guard let wake else { return }
            elapsed += max(.zero, wake - now.boot)
            handle(.wake)
        }
    }

    @Test("one at a time, in order; the next only when the store has the end of the former")
    func order() throws {
        var play = try ScriptedRun()
        try play.add("a", "b")
        #expect(play.sent == ["a"])
        #expect(play.answers == ["b": .queued])
        let actions = play.handle(.answered("a", .success(APIResponse(status: 201))))
        #expect(actions.contains(.remove("a")))
        #expect(play.sent == ["a"] && play.answers["a"] == nil)
        play.handle(.settled("a", nil))
        #expect(play.sent == ["a", "b"])
        #expect(play.answers["a"] == .sent(APIResponse(status: 201)))
        play.done("b")
        #expect(play.machine.entries.isEmpty)
        #expect(play.told == ["queued b", "sent a", "sent b"])
    }

    @Test("an end that the store does not take is offered again, and nothing is sent before it has it")
    func storeFails() throws {
        var play = try ScriptedRun()
        try play.add("a", "b")
        play.answer("a", .success(APIResponse(status: 200)))
        play.handle(.settled("a", .disk(reason: "full")))
        // Neither that the session goes nor that it is back has to do with the disk.
        play.handle(.looked([:]))
        play.see([try SessionName("shop"): Self.open])
        // Its caller does not wait for the disk, and whoever looks is told what is in the way.
        #expect(play.answers["a"] == .queued)
        let item = try #require(play.machine.entries.first.map { play.machine.item($0, at: play.now) })
        #expect(item.state == .waiting && item.error?.message.contains("is not sent again") == true)
        #expect(play.machine.isIdle)
        play.handle(.looked([:]))
        #expect(play.sent == ["a"])
        // By itself, whatever else happens.
        play.elapsed += try #require(play.wake) - play.now.boot
        #expect(play.handle(.wake).contains(.remove("a")))
        #expect(!play.machine.isIdle)
        #expect(play.sent == ["a"])
        play.handle(.settled("a", nil))
        // Nobody sees the session any more; the answer says that the way is open, and one is in sight again.
        play.see([try SessionName("shop"): Self.open])
        #expect(play.sent == ["a", "b"])
    }

    @Test("a no that the store does not take is kept until dropped, as its caller has gone by then")
    func storeFailsAtNo() throws {
        var play = try ScriptedRun()
        try play.add("a")
        play.answer("a", .failure(Self.no))
        play.handle(.settled("a", .disk(reason: "full")))
        #expect(play.answers["a"] == .queued)
        play.elapsed += try #require(play.wake) - play.now.boot
        #expect(play.handle(.wake).contains(.note(Self.no, on: "a")))
        play.handle(.settled("a", nil))
        #expect(play.machine.entries.map(\.finalRefusal) == [Self.no])
        #expect(play.sent == ["a"])
    }

    @Test("what may pass is tried again, later each time, and the caller is told once that it waits")
    func waits() throws {
        var play = try ScriptedRun()
        try play.add("a")
        var pauses: [Duration] = []
        for _ in 1...12 {
            play.answer("a", .failure(Self.away))
            pauses.append(try #require(play.wake) - play.now.boot)
            play.waitForWake()
        }
        #expect(play.sent.count == 13)
        #expect(play.answers["a"] == .queued && play.told == ["queued a"])
        #expect(pauses.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(300) })
        #expect(pauses.max() ?? .zero > .seconds(30))
        #expect(play.machine.item(try Self.entry("a"), at: play.now).tries == 12)
    }

    @Test("a final no is told to the caller who waits; else it stays, with the provider's words, and the next goes")
    func final() throws {
        var play = try ScriptedRun()
        try play.add("a")
        play.answer("a", .failure(Self.no))
        play.handle(.settled("a", nil))
        #expect(play.answers["a"] == .refused(Self.no) && play.machine.entries.isEmpty)

        try play.add("b", "c", awaited: false)
        let actions = play.handle(.answered("b", .failure(Self.no)))
        #expect(actions.contains(.note(Self.no, on: "b")))
        play.handle(.settled("b", nil))
        #expect(play.sent == ["a", "b", "c"])
        let kept = try #require(play.machine.entries.first)
        #expect(kept.id == "b" && play.machine.item(kept, at: play.now).state == .givenUp)
        #expect(play.machine.item(kept, at: play.now).error?.providerMessage == "No such decision")
        play.done("c")
        play.handle(.flush(["b"]))
        #expect(play.sent == ["a", "b", "c"])
        play.handle(.revived("b"))
        play.handle(.flush(["b"]))
        #expect(play.sent == ["a", "b", "c", "b"])
    }

    @Test("statuses and causes: which are a no for good, and which are not")
    func finality() throws {
        func isStored(_ error: AgentError) throws -> Bool {
            var play = try ScriptedRun()
            try play.add("a")
            play.answer("a", .failure(error))
            return play.answers["a"] == .queued
        }
        let passing: [ErrorKind] = [
            .offline, .captivePortal, .providerUnreachable, .providerError, .rateLimited, .timeout, .badReply,
            .signInRequired, .notSignedIn, .unknownSession, .keyringLocked, .keyringUnavailable, .busy, .agentLocked,
        ]
        for kind in ErrorKind.allCases {
            #expect(try isStored(AgentError(kind, "")) == passing.contains(kind), "\(kind)")
        }
        #expect(try isStored(AgentError(.validation, "", httpStatus: 408)))
        #expect(try isStored(AgentError(.validation, "", httpStatus: 425)))
        #expect(try !isStored(AgentError(.providerError, "", httpStatus: 405, retryable: false)))
        #expect(try !isStored(AgentError(.validation, "", httpStatus: 422)))
        // The disk is not the provider.
        #expect(try isStored(AgentError(OutboxError.disk(reason: "full"))))
    }

    @Test("nothing is tried while nothing can come of it, and at once when that is over")
    func sights() throws {
        var play = try ScriptedRun(sights: ["shop": Deliverability(maySend: false, isReached: true, since: 1)])
        try play.add("a")
        #expect(play.sent.isEmpty && play.answers["a"] == .queued && play.wake == nil)
        let shop = try SessionName("shop")
        play.see([shop: Self.open])
        #expect(play.sent == ["a"])
        play.answer("a", .failure(Self.away))
        play.see([shop: Deliverability(maySend: true, isReached: false, since: 1)])
        #expect(play.sent == ["a"])
        play.see([shop: Self.open])
        #expect(play.sent == ["a", "a"])
        play.answer("a", .failure(Self.away))
        play.see([shop: Deliverability(maySend: true, isReached: true, since: 2)])
        #expect(play.sent == ["a", "a", "a"])
        // Signed out meanwhile: it waits for the same account.
        play.answer("a", .failure(AgentError(.signInRequired, "")))
        play.see([:])
        play.waitForWake()
        #expect(play.sent.count == 3 && play.machine.entries.count == 1)
    }

    @Test("Retry-After holds against a better network, and not against a person")
    func held() throws {
        var play = try ScriptedRun()
        try play.add("a")
        play.answer("a", .failure(AgentError(.rateLimited, "", retryAfter: .seconds(90))))
        #expect(try #require(play.wake) - play.now.boot >= .seconds(90))
        play.see([try SessionName("shop"): Deliverability(maySend: true, isReached: true, since: 9)])
        #expect(play.sent == ["a"])
        play.handle(.flush(["a"]))
        #expect(play.sent == ["a", "a"])
    }

    @Test("sessions do not wait for each other, and what was there at the start goes first")
    func lanes() throws {
        var play = try ScriptedRun(sights: ["shop": Self.open, "wiki": Self.open])
        play.handle(.loaded([try Self.entry("a"), try Self.entry("b", in: "wiki"), try Self.entry("c")]))
        #expect(Set(play.sent) == ["a", "b"])
        play.answer("a", .failure(Self.away))
        play.done("b")
        #expect(play.machine.entries.map(\.id) == ["a", "c"])
    }

    @Test("what a person drops is gone, also while it is under way")
    func dropping() throws {
        var play = try ScriptedRun()
        try play.add("a", "b")
        play.handle(.dropped(["a"]))
        #expect(play.sent == ["a", "b"])
        play.answer("a", .success(APIResponse(status: 200)))
        #expect(play.machine.entries.map(\.id) == ["b"])
        #expect(play.told.contains("dropped a"))
    }

    @Test("an entry and what it sends are read back as written; a verdict that cannot be read is a no all the same")
    func coding() throws {
        var entry = try Self.entry("a")
        #expect(OutboxEntry(id: "a", session: entry.session, encoded: entry.encoded(), finalRefusal: nil) == entry)
        let kept = OutboxEntry(
            id: "a", session: entry.session, owner: entry.owner, signIn: .random(), title: "t", idempotencyKey: "k",
            boundary: "b", queuedAt: entry.queuedAt)
        #expect(OutboxEntry(id: "a", session: entry.session, encoded: kept.encoded(), finalRefusal: nil) == kept)
        entry.finalRefusal = Self.no
        let finalRefusal = Self.no.json.serialized()
        #expect(
            OutboxEntry(id: "a", session: entry.session, encoded: entry.encoded(), finalRefusal: finalRefusal) == entry)
        let odd = OutboxEntry(id: "a", session: entry.session, encoded: entry.encoded(), finalRefusal: [0])
        #expect(odd?.finalRefusal != nil)
        let requests: [OutboxRequest] = [
            .call(APICall(session: entry.session, endpoint: "vote", args: ["id": "1"], queue: true)),
            .request(
                APIRequest(session: entry.session, method: "POST", path: "/x?secret=1", body: [1], queue: true)),
        ]
        for request in requests { #expect(OutboxRequest(encoded: request.encoded()) == request) }
        #expect(requests.map(\.title) == ["vote", "POST /x"])
        #expect(OutboxRequest(encoded: Array("{}".utf8)) == nil)
    }
}
