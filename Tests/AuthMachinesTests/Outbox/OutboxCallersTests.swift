import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("What callers of the outbox get")
struct OutboxCallersTests {
    @Test("a write that the store does not accept is refused, and nothing of it is left")
    func notAdded() throws {
        var play = try OutboxScript()
        try play.post("a")
        play.store(.disk(reason: "full"))
        #expect(play.answers["a"] == .refused(AgentError(OutboxError.disk(reason: "full"))))
        #expect(play.machine.entries.isEmpty && play.calls.isEmpty)
    }

    @Test("more writes than the outbox holds are refused, those on their way to the store counted")
    func full() throws {
        let found = try (1..<OutboxMachine.maxEntries).map { try OutboxScript.entry("\($0)") }
        var play = try OutboxScript(found: found)
        try play.post("a")
        try play.post("b")
        guard case .refused(let error)? = play.answers["b"] else {
            Issue.record("one too many was accepted")
            return
        }
        #expect(error.cause == "outbox_full" && play.answers["a"] == nil)
    }

    @Test("a write that the user drops is deleted, even while it is in progress")
    func dropping() throws {
        var play = try OutboxScript()
        try play.add("a", "b")
        play.ask(.drop(OutboxParams(id: "a")), by: "drop")
        #expect(play.calls == [.remove("a")] && play.answers["drop"] == nil)
        play.store()
        #expect(play.sent == ["a", "b"])
        guard case .list(let items)? = play.answers["drop"], case .refused(let error)? = play.answers["a"] else {
            Issue.record("a caller still waits")
            return
        }
        #expect(items.map(\.id) == ["a"] && error.cause == "dropped")
        play.answer("a", .success(APIResponse(status: 200)))
        #expect(play.machine.entries.map(\.id) == ["b"] && play.calls.isEmpty)
        #expect(play.published.contains("dropped a"))
    }

    @Test("the caller that drops the last entry gets its reply when the store is closed")
    func lastDropped() throws {
        var play = try OutboxScript(sessions: [:])
        try play.add("a")
        play.ask(.drop(OutboxParams(id: "a")), by: "drop")
        play.handle(.stored(.success([])))
        #expect(play.calls == [.remove("a"), .release] && play.answers["drop"] == nil)
        play.handle(.stored(.success([])))
        #expect(play.answers["drop"] != nil)
    }

    @Test("if the store fails while several are dropped, those that it has removed are gone, and the rest stays")
    func partlyDropped() throws {
        var play = try OutboxScript(sessions: [:])
        try play.add("a", "b", "c")
        play.ask(.drop(OutboxParams()), by: "drop")
        play.store()
        #expect(play.calls == [.remove("b")])
        play.store(.disk(reason: "full"))
        #expect(play.answers["drop"] == .refused(AgentError(OutboxError.disk(reason: "full"))))
        #expect(play.machine.entries.map(\.id) == ["b", "c"] && play.calls.isEmpty)
    }

    @Test("an entry that does not exist is neither listed nor dropped nor tried")
    func unknown() throws {
        var play = try OutboxScript()
        let params = OutboxParams(id: "x")
        for (name, command) in [("l", OutboxCommand.list(params)), ("d", .drop(params)), ("f", .flush(params))] {
            play.ask(command, by: name)
            guard case .refused(let error)? = play.answers[name] else {
                Issue.record("\(name) was not refused")
                continue
            }
            #expect(error.kind == .notFound)
        }
    }

    @Test("the store is read before the first request is answered, once for all of them")
    func readFirst() throws {
        var play = try OutboxScript(found: nil)
        #expect(play.calls.isEmpty)
        play.ask(.list(OutboxParams()), by: "list")
        try play.post("a")
        #expect(play.calls == [.load])
        play.store(found: [try OutboxScript.entry("z")])
        guard case .list(let items)? = play.answers["list"] else {
            Issue.record("the list does not end")
            return
        }
        #expect(items.map(\.id) == ["z"] && play.sent == ["z"])
        #expect(play.calls == [.add(try OutboxScript.entry("a"), OutboxScript.request)])
    }

    @Test("changes of sessions matter until the store is read, and from the first write on")
    func needsStatus() throws {
        var play = try OutboxScript(found: nil)
        #expect(play.machine.needsStatus)
        play.ask(.list(OutboxParams()), by: "list")
        play.store()
        #expect(!play.machine.needsStatus)
        try play.post("a")
        #expect(play.machine.needsStatus)
        #expect(try OutboxScript(found: [OutboxScript.entry("z")]).machine.needsStatus)
    }

    @Test("a store that cannot be read refuses its callers, and is read again without a request when sessions can be")
    func readAgain() throws {
        var play = try OutboxScript(found: nil)
        play.ask(.list(OutboxParams()), by: "list")
        play.store(.disk(reason: "gone"))
        #expect(play.answers["list"] == .refused(AgentError(OutboxError.disk(reason: "gone"))))
        #expect(try #require(play.wake) - play.now.boot == Backoff.longest)
        // The sessions' store is still closed: reading now could ask the user for a password.
        play.waitForWake()
        #expect(play.calls.isEmpty && play.wake == nil)
        play.handle(.statusChanged([try SessionName("shop"): OutboxScript.open], mayLoad: true))
        play.store(.disk(reason: "gone"))
        play.waitForWake()
        play.store(found: [try OutboxScript.entry("z")])
        #expect(play.sent == ["z"] && play.wake == nil)
    }

    @Test("a caller that goes before the store has begun leaves nothing behind")
    func goneBefore() throws {
        var play = try OutboxScript()
        try play.post("a")
        try play.post("b")
        play.leave("b")
        #expect(play.answers["b"] == .refused(.callerGone))
        play.store()
        #expect(play.calls.isEmpty && play.machine.entries.map(\.id) == ["a"])
    }

    @Test("a caller that goes while the store writes learns that it waits, or that it does not")
    func goneWhileWriting() throws {
        for error in [nil, OutboxError.disk(reason: "full")] {
            var play = try OutboxScript()
            try play.post("a")
            play.leave("a")
            #expect(play.answers.isEmpty)
            play.store(error)
            #expect(play.answers["a"] == error.map { .refused(AgentError($0)) } ?? .queued)
            #expect(play.sent == (error == nil ? ["a"] : []))
        }
    }

    @Test("a caller that goes while its write is sent leaves it waiting; one whose answer is being recorded gets it")
    func goneWhileSending() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.leave("a")
        #expect(play.answers["a"] == .queued && play.published.isEmpty)
        play.done("a")
        try play.add("b")
        play.answer("b", .failure(OutboxScript.no))
        play.leave("b")
        #expect(play.answers["b"] == nil)
        play.store()
        #expect(play.answers["b"] == .refused(OutboxScript.no))
    }

    @Test("a flush whose caller disconnects ends, and the writes that it began continue")
    func goneFlush() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.ask(.flush(OutboxParams()), by: "flush")
        play.leave("flush")
        #expect(play.answers["flush"] == .refused(.callerGone))
        play.done("a")
        #expect(play.answers["flush"] == .refused(.callerGone))
    }

    /// Entries of two sessions. The first one of each is in progress.
    private static func twoSessions() throws -> OutboxScript {
        let sessions = ["shop": OutboxScript.open, "wiki": OutboxScript.open]
        let found = [
            try OutboxScript.entry("a"), try OutboxScript.entry("w", in: "wiki"), try OutboxScript.entry("b"),
            try OutboxScript.entry("c"),
        ]
        let play = try OutboxScript(sessions: sessions, found: found)
        #expect(play.sent == ["a", "w"])
        return play
    }

    @Test("a flush of a session or of an entry does not wait for other sessions")
    func flushOfOneSession() throws {
        var play = try Self.twoSessions()
        play.ask(.flush(OutboxParams(session: try SessionName("shop"))), by: "shop")
        play.ask(.flush(OutboxParams(session: try SessionName("wiki"))), by: "wiki")
        play.ask(.flush(OutboxParams(id: "a")), by: "a")
        play.ask(.flush(OutboxParams()), by: "all")
        play.ask(.flush(OutboxParams(session: try SessionName("other"))), by: "other")
        #expect(Array(play.answers.keys) == ["other"] && play.list("other") == [])
        play.answer("a", .failure(OutboxScript.away))
        #expect(play.list("shop") == ["a", "b", "c"] && play.list("a") == ["a"])
        #expect(play.answers["wiki"] == nil && play.answers["all"] == nil)
        play.done("w")
        #expect(play.list("wiki") == [] && play.list("all") == ["a", "b", "c"])
    }

    @Test("a flush waits for one attempt of each session, even if another attempt begins meanwhile")
    func flushOfAll() throws {
        var play = try Self.twoSessions()
        play.ask(.flush(OutboxParams()), by: "all")
        play.answer("a", .failure(OutboxScript.away))
        #expect(play.answers["all"] == nil)
        play.waitForWake()
        #expect(play.sent == ["a", "w", "a"])
        play.done("w")
        #expect(play.list("all") == ["a", "b", "c"] && !play.isIdle())
    }

    @Test("a flush of an entry waits for those before it and not for those after it")
    func flushOfOneEntry() throws {
        var play = try Self.twoSessions()
        play.ask(.flush(OutboxParams(id: "b")), by: "b")
        play.done("a")
        #expect(play.sent == ["a", "w", "b"] && play.answers["b"] == nil)
        play.done("b")
        #expect(play.sent == ["a", "w", "b", "c"] && play.list("b") == [])
        // If the one before it cannot be sent, neither can this one.
        try play.add("d")
        play.ask(.flush(OutboxParams(id: "d")), by: "flush")
        play.answer("c", .failure(OutboxScript.away))
        #expect(play.list("flush") == ["d"])
    }

    @Test("a flush ends when what it waits for is dropped, or given up")
    func flushOfDropped() throws {
        var play = try Self.twoSessions()
        play.ask(.flush(OutboxParams(id: "a")), by: "a")
        play.ask(.drop(OutboxParams(id: "a")), by: "drop")
        #expect(play.answers["a"] == nil)
        play.store()
        #expect(play.list("a") == [] && play.sent == ["a", "w", "b"])
        play.ask(.flush(OutboxParams(id: "b")), by: "b")
        play.answer("b", .failure(OutboxScript.no))
        #expect(play.answers["b"] == nil)
        play.store()
        #expect(play.list("b") == ["b"] && play.sent == ["a", "w", "b", "c"])
    }

    @Test("a flush neither waits for what is queued after it nor lists it")
    func flushBeforeAdding() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.ask(.flush(OutboxParams()), by: "flush")
        try play.add("b")
        play.done("a")
        #expect(play.sent == ["a", "b"] && play.list("flush") == [])
    }

    @Test("when the agent stops, every caller gets a reply, nothing is sent, and received responses are recorded")
    func stopping() throws {
        var play = try OutboxScript(sessions: ["shop": OutboxScript.open, "wiki": OutboxScript.open])
        try play.add("a", "b")
        play.ask(
            .post(try OutboxScript.entry("w", in: "wiki"), OutboxWrite(OutboxScript.request)), by: "w")
        play.store()
        try play.post("c")
        try play.post("d")
        play.ask(.flush(OutboxParams()), by: "flush")
        play.answer("w", .success(APIResponse(status: 200)))
        play.handle(.stopping)
        #expect(play.answers["a"] == .queued)
        #expect(play.answers["d"] == .refused(.stopping) && play.answers["flush"] == .refused(.stopping))
        // The store is writing this one.
        #expect(play.answers["c"] == nil && play.answers["w"] == nil)
        play.store()
        #expect(play.answers["c"] == .queued)
        #expect(play.calls == [.remove("w")])
        play.store()
        #expect(play.answers["w"] == .sent(APIResponse(status: 200)))
        play.done("a")
        #expect(play.machine.entries.map(\.id) == ["b", "c"] && play.sent == ["a", "w"] && play.wake == nil)
        play.ask(.list(OutboxParams()), by: "late")
        #expect(play.answers["late"] == .refused(.stopping))
    }

    @Test("when the agent stops, an end that the store has not recorded gets another attempt, and nothing else does")
    func stoppingUnrecorded() throws {
        var play = try OutboxScript()
        try play.add("a", "b")
        play.answer("a", .success(APIResponse(status: 200)))
        play.store(.disk(reason: "full"))
        #expect(play.calls == [])
        play.handle(.stopping)
        #expect(play.calls == [.remove("a")])
        play.store()
        #expect(play.machine.entries.map(\.id) == ["b"] && play.sent == ["a"] && play.wake == nil)
    }
}
