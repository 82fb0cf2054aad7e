import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Writes that wait")
struct OutboxMachineTests {
    @Test("one at a time, in order; the next only when the store has the end of the former")
    func order() throws {
        var play = try OutboxScript()
        try play.add("a", "b")
        #expect(play.sent == ["a"])
        #expect(play.answers == ["b": .queued])
        play.answer("a", .success(APIResponse(status: 201)))
        #expect(play.calls == [.remove("a")])
        #expect(play.sent == ["a"] && play.answers["a"] == nil)
        play.store()
        #expect(play.sent == ["a", "b"])
        #expect(play.answers["a"] == .sent(APIResponse(status: 201)))
        play.done("b")
        #expect(play.machine.entries.isEmpty)
        #expect(play.published == ["queued b", "sent a", "sent b"])
    }

    @Test("what was just added is sent without reading it back; what waited is read")
    func sentAtOnce() throws {
        var play = try OutboxScript()
        try play.add("a", "b")
        play.answer("a", .failure(OutboxScript.away))
        play.waitForWake()
        play.done("a")
        #expect(play.sent == ["a", "a", "b"])
        #expect(play.sentAtOnce == ["a"])
    }

    @Test("the store gets one call at a time, in the order of the requests")
    func oneCall() throws {
        var play = try OutboxScript()
        for id in ["a", "b", "c"] { try play.post(id) }
        for id in ["a", "b", "c"] {
            #expect(play.calls == [.add(try OutboxScript.entry(id), OutboxScript.request)])
            play.store()
        }
        #expect(play.machine.entries.map(\.id) == ["a", "b", "c"])
    }

    @Test("an end that the store does not record is written again, and nothing is sent before it is stored")
    func storeFails() throws {
        var play = try OutboxScript()
        try play.add("a", "b")
        play.answer("a", .success(APIResponse(status: 200)))
        play.ask(.flush(OutboxParams()), by: "flush")
        #expect(play.answers["flush"] == nil)
        play.store(.disk(reason: "full"))
        #expect(play.list("flush") == ["a", "b"])
        // Neither that the session goes nor that it is back has to do with the disk.
        play.see([:])
        play.see([try SessionName("shop"): OutboxScript.open])
        // Its caller does not wait for the disk, and the list says what is in the way.
        #expect(play.answers["a"] == .queued)
        let item = try #require(play.machine.entries.first.map { play.machine.item($0, at: play.now) })
        #expect(item.state == .waiting && item.error?.message.contains("is not sent again") == true)
        #expect(play.isIdle())
        play.see([:])
        #expect(play.sent == ["a"])
        // By itself, whatever else happens.
        play.waitForWake()
        #expect(play.calls == [.remove("a")])
        #expect(!play.isIdle())
        play.ask(.flush(OutboxParams(id: "a")), by: "one")
        #expect(play.sent == ["a"] && play.answers["one"] == nil)
        play.store()
        #expect(play.list("one") == [])
        // The session is not there; the answer says that the way is open, and one is in sight again.
        play.see([try SessionName("shop"): OutboxScript.open])
        #expect(play.sent == ["a", "b"])
    }

    @Test("a refusal that the store does not record is kept until dropped, as its caller has gone by then")
    func storeFailsAtRefusal() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.answer("a", .failure(OutboxScript.no))
        play.store(.disk(reason: "full"))
        #expect(play.answers["a"] == .queued)
        play.waitForWake()
        #expect(play.calls == [.record(OutboxScript.no, on: "a")])
        play.store()
        #expect(play.machine.entries.map(\.finalRefusal) == [OutboxScript.no])
        #expect(play.sent == ["a"])
    }

    @Test("a temporary failure is retried, later each time, and its caller is notified once that the write waits")
    func waits() throws {
        var play = try OutboxScript()
        try play.add("a")
        var pauses: [Duration] = []
        for _ in 1...12 {
            play.answer("a", .failure(OutboxScript.away))
            pauses.append(try #require(play.wake) - play.now.boot)
            play.waitForWake()
        }
        #expect(play.sent.count == 13)
        #expect(play.answers["a"] == .queued && play.published == ["queued a"])
        #expect(pauses.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(300) })
        #expect(pauses.max() ?? .zero > .seconds(30))
        #expect(play.machine.item(try OutboxScript.entry("a"), at: play.now).tries == 12)
    }

    @Test(
        "a final refusal is reported to a caller that waits; else it stays, with the provider's words, and the next goes"
    )
    func final() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.answer("a", .failure(OutboxScript.no))
        play.store()
        #expect(play.answers["a"] == .refused(OutboxScript.no) && play.machine.entries.isEmpty)

        try play.add("b", "c")
        play.leave("b")
        play.answer("b", .failure(OutboxScript.no))
        #expect(play.calls == [.record(OutboxScript.no, on: "b")])
        play.store()
        #expect(play.sent == ["a", "b", "c"])
        let kept = try #require(play.machine.entries.first)
        #expect(kept.id == "b" && play.machine.item(kept, at: play.now).state == .givenUp)
        #expect(play.machine.item(kept, at: play.now).error?.providerMessage == "No such decision")
        play.done("c")
        play.ask(.flush(OutboxParams()), by: "all")
        #expect(play.sent == ["a", "b", "c"])
        guard case .list(let items)? = play.answers["all"] else {
            Issue.record("nothing was in progress, and the flush does not end")
            return
        }
        #expect(items.map(\.id) == ["b"])
        play.ask(.flush(OutboxParams(id: "b")), by: "one")
        #expect(play.calls == [.record(nil, on: "b")])
        play.store()
        #expect(play.sent == ["a", "b", "c", "b"] && play.answers["one"] == nil)
        play.done("b")
        #expect(play.answers["one"] == .list([]))
    }

    @Test("statuses and causes: which are a final refusal, and which are not")
    func finality() throws {
        func isStored(_ error: AgentError) throws -> Bool {
            var play = try OutboxScript()
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

    @Test("nothing is sent while it cannot succeed, and at once when it can")
    func sights() throws {
        var play = try OutboxScript(sessions: ["shop": Deliverability(maySend: false, isReached: true, since: 1)])
        try play.add("a")
        #expect(play.sent.isEmpty && play.answers["a"] == .queued && play.wake == nil)
        let shop = try SessionName("shop")
        play.see([shop: OutboxScript.open])
        #expect(play.sent == ["a"])
        play.answer("a", .failure(OutboxScript.away))
        play.see([shop: Deliverability(maySend: true, isReached: false, since: 1)])
        #expect(play.sent == ["a"])
        play.see([shop: OutboxScript.open])
        #expect(play.sent == ["a", "a"])
        play.answer("a", .failure(OutboxScript.away))
        play.see([shop: Deliverability(maySend: true, isReached: true, since: 2)])
        #expect(play.sent == ["a", "a", "a"])
        // Signed out meanwhile: it waits for the same account.
        play.answer("a", .failure(AgentError(.signInRequired, "")))
        play.see([:])
        play.waitForWake()
        #expect(play.sent.count == 3 && play.machine.entries.count == 1)
    }

    @Test("Retry-After holds against a better network, and not against the user")
    func held() throws {
        var play = try OutboxScript()
        try play.add("a")
        play.answer("a", .failure(AgentError(.rateLimited, "", retryAfter: .seconds(90))))
        #expect(try #require(play.wake) - play.now.boot >= .seconds(90))
        play.see([try SessionName("shop"): Deliverability(maySend: true, isReached: true, since: 9)])
        #expect(play.sent == ["a"])
        play.ask(.flush(OutboxParams(id: "a")), by: "flush")
        #expect(play.sent == ["a", "a"])
        #expect(play.answers["flush"] == nil)
        play.answer("a", .failure(OutboxScript.away))
        #expect(play.answers["flush"] != nil)
    }

    @Test("sessions do not wait for each other, and what was there at the start goes first")
    func lanes() throws {
        var play = try OutboxScript(
            sessions: ["shop": OutboxScript.open, "wiki": OutboxScript.open],
            found: [try OutboxScript.entry("a"), try OutboxScript.entry("b", in: "wiki"), try OutboxScript.entry("c")])
        #expect(Set(play.sent) == ["a", "b"])
        play.answer("a", .failure(OutboxScript.away))
        play.done("b")
        #expect(play.machine.entries.map(\.id) == ["a", "c"])
    }

    @Test("an entry and what it sends are read back as written; a refusal that cannot be read is still a refusal")
    func coding() throws {
        var entry = try OutboxScript.entry("a")
        #expect(OutboxEntry(id: "a", session: entry.session, encoded: entry.encoded(), finalRefusal: nil) == entry)
        let kept = OutboxEntry(
            id: "a", session: entry.session, owner: entry.owner, signIn: .random(), title: "t", idempotencyKey: "k",
            boundary: "b", queuedAt: entry.queuedAt)
        #expect(OutboxEntry(id: "a", session: entry.session, encoded: kept.encoded(), finalRefusal: nil) == kept)
        entry.finalRefusal = OutboxScript.no
        let finalRefusal = OutboxScript.no.json.serialized()
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
