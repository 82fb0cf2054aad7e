import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("The audit log in memory")
struct AuditRingTests {
    private static let start = Moment(boot: BootInstant(sinceBoot: .seconds(10)), wall: WallTime(unixSeconds: 1000))
    private static let confinedRule = AccessPolicy.boundary(of: .extra).id

    private static func entry(_ method: String, rule: String = "default.token") -> AuditEntry {
        AuditEntry(AuditedRequest(method: method), at: start, rule: rule, caller: nil)
    }

    @Test("it keeps the newest entries with rising numbers, and counts those that were replaced")
    func newest() {
        var ring = AuditRing(capacity: 4)
        #expect(ring.entries(after: 0, limit: 10).isEmpty)
        var places: [AuditRing.Place] = []
        for number in 1...5 {
            let (entry, place, replaced) = ring.append(Self.entry("m\(number)"))
            #expect(replaced?.request.method == (number > 3 ? "m\(number - 3)" : nil))
            #expect(entry.number == number && place.number == number)
            places.append(place)
        }
        #expect(ring.dropped == 2)
        #expect(ring.entries(after: 0, limit: 10).map(\.request.method) == ["m3", "m4", "m5"])
        #expect(ring.entries(after: 4, limit: 10).map(\.number) == [5])
        #expect(ring.entries(after: nil, limit: 2).map(\.number) == [4, 5])
        // A client that reads on misses none.
        #expect(ring.entries(after: 0, limit: 2).map(\.number) == [3, 4])
        #expect(ring.entries(after: 3, limit: 1).map(\.number) == [4])
        for limit in [0, -1, Int.min] { #expect(ring.entries(after: nil, limit: limit).isEmpty) }
        for (number, limit) in [(5, 10), (99, 10), (Int.max, 1), (0, 0), (0, -1), (0, Int.min)] {
            #expect(ring.entries(after: number, limit: limit).isEmpty)
        }
        #expect(ring.entries(after: -7, limit: .max).count == 3)
        #expect(places.map { ring[$0]?.number } == [nil, nil, 3, 4, 5])
    }

    @Test("whether a session is hidden is asked once for all of its entries")
    func verdicts() throws {
        var ring = AuditRing(capacity: 2000)
        let (work, shop) = (try SessionName("work"), try SessionName("shop"))
        for number in 1...1000 {
            let request = AuditedRequest(method: "m", session: number.isMultiple(of: 2) ? work : shop)
            _ = ring.append(AuditEntry(request, at: Self.start, rule: "default.token", caller: nil))
        }
        var asked: [SessionName] = []
        let found = ring.entries(after: nil, limit: 2000) { session in
            asked.append(session)
            return session == work
        }
        #expect(asked == [shop, work])
        #expect(found.count == 500 && found.allSatisfy { $0.request.session == shop })
    }

    @Test("entries about hidden sessions are left out before the limit applies, and those about none are kept")
    func hidden() throws {
        var ring = AuditRing(capacity: 8)
        let work = try SessionName("work")
        for session in [work, nil, try SessionName("shop"), work, nil] {
            _ = ring.append(
                AuditEntry(
                    AuditedRequest(method: "m", session: session), at: Self.start, rule: "default.token", caller: nil))
        }
        func numbers(after number: Int?, limit: Int) -> [Int] {
            ring.entries(after: number, limit: limit) { $0 == work }.map(\.number)
        }
        #expect(numbers(after: nil, limit: 8) == [2, 3, 5])
        #expect(numbers(after: nil, limit: 2) == [3, 5])
        #expect(numbers(after: 0, limit: 1) == [2])
        #expect(numbers(after: 3, limit: 1) == [5])
    }

    @Test("confined clients, however much they request, replace only entries of confined clients")
    func confined() {
        var ring = AuditRing(capacity: 8)
        for number in 1...3 { _ = ring.append(Self.entry("own\(number)")) }
        for number in 1...100 { _ = ring.append(Self.entry("c\(number)", rule: Self.confinedRule)) }
        _ = ring.append(Self.entry("own4"))
        let methods = ring.entries(after: 0, limit: .max).map(\.request.method)
        #expect(methods == ["own1", "own2", "own3", "c99", "c100", "own4"])
        #expect(ring.dropped == 98)
    }

    @Test("a repeated request is counted in its entry until that ends or is replaced")
    func repeated() {
        var ring = AuditRing(capacity: 2)
        let place = ring.append(Self.entry("a")).1
        let later = Self.start.boot + .seconds(5)
        let isCounted = ring.repeated(place, at: later)
        #expect(isCounted)
        #expect(ring[place]?.count == 2)
        #expect(ring[place]?.item.lastAt == 1005)
        let ended = ring.end(place)
        #expect(ended?.count == 2 && ended?.hasEnded == true)
        let replaced = ring.append(Self.entry("b")).replaced
        #expect(replaced == ended)
        let endedLater = ring.end(place)
        #expect(endedLater == nil)
        let isCountedLater = ring.repeated(place, at: later)
        #expect(!isCountedLater)
        #expect(ring.entries(after: 0, limit: 9).map(\.count) == [1])
    }

    @Test("a log for fewer than two entries has room for one of each kind")
    func smallest() {
        var ring = AuditRing(capacity: 0)
        for _ in 1...3 { _ = ring.append(Self.entry("a")) }
        _ = ring.append(Self.entry("b", rule: Self.confinedRule))
        #expect(ring.entries(after: 0, limit: 9).map(\.number) == [3, 4])
    }

    @Test("long texts of a client are cut at a whole character")
    func texts() {
        let request = AuditedRequest(
            method: "token.get", scopes: Array(repeating: "read", count: 1000),
            audience: String(repeating: "é", count: 200), purpose: String(repeating: "x", count: 1 << 20))
        let most = AuditedRequest.longestText + "…".utf8.count
        let long = AuditedRequest(
            method: "api.call", endpoint: String(repeating: "e", count: 300), call: String(repeating: "é", count: 300),
            origin: String(repeating: "o", count: 257))
        for text in [
            request.scopes, request.audience, request.purpose, long.endpoint, long.call, long.origin,
        ] {
            #expect((text?.utf8.count ?? 0) <= most)
            #expect(text?.hasSuffix("…") == true)
        }
        #expect(request.audience?.dropLast() == String(repeating: "é", count: 120)[...])
        #expect(AuditedRequest(method: "token.get", purpose: "backup").purpose == "backup")
    }

    @Test("the end of a long path is kept, and a client accepts the longest list")
    func sizes() throws {
        #expect(AuditedRequest.end(of: "/bin/a") == "/bin/a")
        #expect(AuditedRequest.end(of: String(repeating: "é", count: 200)) == "…" + String(repeating: "é", count: 120))
        // In JSON a control character is six bytes.
        let worst = String(repeating: "\u{1}", count: 4095)
        var caller = CallerIdentity(listener: .api, processID: .max, userID: .max, sandbox: .processNamespace)
        (caller.executable, caller.label) = (worst + "/program", worst)
        let name = String(repeating: "a", count: 255)
        (caller.unit, caller.slice, caller.loginSession, caller.terminal) = (name, name, name, name)
        let request = AuditedRequest(
            method: "session.export", session: try SessionName(String(repeating: "a", count: 64)), scopes: [worst],
            audience: worst, purpose: worst, endpoint: name, call: worst, origin: worst, isReadOnly: true)
        let entry = AuditEntry(
            request, at: Self.start, rule: Self.confinedRule, caller: caller, error: .unknownSession,
            token: "0123456789abcdef")
        #expect(entry.item.exe?.hasSuffix("/program") == true)
        let most = 12 << 20
        #expect(entry.item.json.serialized().count * 1024 < most)
    }

    @Test("a token has the same hash in one run, and another one in the next")
    func hashes() {
        let (one, other) = (TokenHasher(), TokenHasher())
        #expect(one.hash(of: Secret("a")) == one.hash(of: Secret("a")))
        #expect(one.hash(of: Secret("a")) != one.hash(of: Secret("b")))
        #expect(one.hash(of: Secret("a")) != other.hash(of: Secret("a")))
        #expect(one.hash(of: Secret("")).count == 16)
    }

    @Test("the system's log gets a limited number of lines, and confined clients a smaller one, until the next window")
    func budget() {
        var budget = LineBudget()
        let (own, confined) = (Self.entry("a"), Self.entry("b", rule: Self.confinedRule))
        let now = Self.start.boot
        func allowed(_ entry: AuditEntry, of count: Int, at now: BootInstant) -> Int {
            (0..<count).count { _ in budget.allows(entry, at: now) }
        }
        #expect(allowed(confined, of: 1000, at: now) == LineBudget.confinedLimit)
        let end = now + LineBudget.window
        #expect(allowed(own, of: 10_000, at: end - .seconds(1)) == LineBudget.limit - LineBudget.confinedLimit)
        #expect(allowed(own, of: 1, at: end) == 1)
        #expect(allowed(confined, of: 1000, at: end) == LineBudget.confinedLimit)
    }
}
