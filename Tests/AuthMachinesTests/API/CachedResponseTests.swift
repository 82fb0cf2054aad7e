import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@testable import AuthMachines

@Suite("How long an answer holds")
struct CachedResponseTests {
    private static func moment(_ seconds: Double) -> Moment { ManualClock.moment(.seconds(seconds)) }
    private static func at(_ seconds: Double) -> BootInstant { moment(seconds).boot }

    private func kept(
        _ headers: [(name: String, value: String)], freshFor: Duration? = nil, took: Double = 0, status: Int = 200,
        request: [HTTPField] = []
    ) -> CachedResponse? {
        CachedResponse(
            HTTPResponse(status: status, headers: headers, body: []),
            to: HTTPRequest(method: "GET", url: "http://h/", headers: request), freshFor: freshFor,
            sentAt: Self.moment(0), receivedAt: Self.moment(took))
    }

    @Test(
        "the profile's word goes first, then max-age, then the two dates, and none is guessed",
        arguments: [
            ([("Cache-Control", "max-age=60")], nil, 60), ([("cache-control", "private, Max-Age=\"60\"")], nil, 60),
            ([("Cache-Control", "max-age=60")], 300, 300), ([("Cache-Control", "no-cache")], 300, 300),
            ([("Cache-Control", "no-cache, max-age=60")], nil, 0), ([("Cache-Control", "max-age=x")], nil, 0),
            ([("Cache-Control", "max-age=99999999999999999999")], nil, 1 << 31),
            (
                [("Date", "Fri, 15 Jan 2027 08:00:00 GMT"), ("Expires", "Fri, 15 Jan 2027 08:02:00 GMT")], nil, 120
            ),
            ([("Expires", "0"), ("Date", "Fri, 15 Jan 2027 08:00:00 GMT")], nil, 0),
            ([("Last-Modified", "Fri, 15 Jan 2016 08:00:00 GMT")], nil, 0), ([], nil, 0),
        ] as [([(String, String)], Int?, Int)])
    func lifetime(headers: [(String, String)], profile: Int?, seconds: Int) throws {
        let answer = try #require(
            kept(headers.map { (name: $0.0, value: $0.1) }, freshFor: profile.map { .seconds($0) }))
        if seconds > 0 { #expect(answer.isFresh(at: Self.at(Double(seconds) - 0.5))) }
        #expect(!answer.isFresh(at: Self.at(Double(seconds))))
    }

    @Test("the duration of the exchange and the stated age count as age")
    func age() throws {
        let answer = try #require(kept([("Cache-Control", "max-age=60"), ("Age", "20")], took: 3))
        #expect(answer.age(at: Self.at(3)) == .seconds(23))
        #expect(answer.isFresh(at: Self.at(39.5)) && !answer.isFresh(at: Self.at(40)))
    }

    @Test("what must not be kept is not")
    func notKept() {
        #expect(kept([("Cache-Control", "no-store")]) == nil)
        #expect(kept([("Cache-Control", "max-age=60, no-store")], freshFor: .seconds(300)) == nil)
        // With a mark after it, the comma is another character.
        #expect(kept([("Cache-Control", "no-store,\u{301}x")], freshFor: .seconds(300)) == nil)
        #expect(kept([("Vary", "*,\u{301}x")]) == nil)
        #expect(kept([], freshFor: .zero) == nil)
        #expect(kept([("Vary", "Accept, *")]) == nil)
        for status in [201, 204, 206, 304] { #expect(kept([], status: status) == nil) }
    }

    @Test("it answers requests with the same values of the headers in Vary, which do not include the token")
    func vary() throws {
        let fields = [HTTPField("Accept-Language", "pt"), HTTPField("X-A", "1")]
        let answer = try #require(kept([("Vary", "accept-language, Authorization")], request: fields))
        func answers(_ headers: [HTTPField]) -> Bool {
            answer.answers(HTTPRequest(method: "GET", url: "http://h/", headers: headers))
        }
        #expect(answers(fields) && answers([HTTPField("accept-language", "pt"), HTTPField("X-A", "2")]))
        #expect(!answers([HTTPField("Accept-Language", "en")]) && !answers([]))
    }

    @Test("it stands in while the provider is away, unless the answer forbade it")
    func stale() {
        #expect(kept([("ETag", "\"1\"")])?.mayBeStale == true)
        #expect(kept([("Cache-Control", "must-revalidate")])?.mayBeStale == false)
        #expect(kept([("Cache-Control", "no-cache=\"x\"")])?.mayBeStale == false)
    }

    @Test("confirmed, it is as young as the confirmation and has its newer fields")
    func confirmed() throws {
        var answer = try #require(kept([("ETag", "\"1\""), ("Cache-Control", "max-age=5"), ("X-A", "1")]))
        #expect(answer.validators.map { "\($0.name): \($0.value.reveal())" } == ["If-None-Match: \"1\""])
        answer.confirmed(
            by: HTTPResponse(status: 304, headers: [("cache-control", "max-age=50"), ("x-a", "2")], body: []),
            freshFor: nil, sentAt: Self.moment(100), receivedAt: Self.moment(101))
        #expect(answer.reply.status == 200 && answer.reply.header("X-A") == "2")
        #expect(answer.reply.headers.count == 3)
        #expect(answer.age(at: Self.at(101)) == .seconds(1) && answer.isFresh(at: Self.at(149)))
    }
}

@Suite("The content of the cache")
struct ResponseCacheStorageTests {
    private func key(_ url: String, signedInAt: Double = 1, session: String = "example") throws
        -> ResponseCacheStorage.Key
    {
        ResponseCacheStorage.Key(
            SessionRecord(
                session: try SessionName(session), provider: "p", environment: "e", method: "m",
                tokens: TokenSet(accessToken: Secret("t"), issuedAt: WallTime(unixSeconds: 0)), user: nil,
                rawUser: nil, signedInAt: WallTime(unixSeconds: signedInAt)), url: url)
    }

    private func answer(_ bytes: Int, language: String? = nil) throws -> (CachedResponse, HTTPRequest) {
        let request = HTTPRequest(
            method: "GET", url: "http://h/", headers: language.map { [HTTPField("L", $0)] } ?? [])
        let reply = HTTPResponse(
            status: 200, headers: language == nil ? [] : [("Vary", "L")], body: [UInt8](repeating: 1, count: bytes))
        let moment = ManualClock.moment(.zero)
        return (
            try #require(
                CachedResponse(reply, to: request, freshFor: .seconds(9), sentAt: moment, receivedAt: moment)), request
        )
    }

    @Test("it never holds more than its limit, and the least recently used leave first")
    func bounded() throws {
        var cache = ResponseCacheStorage(limit: 100_000)
        let (answer, request) = try answer(9_000)
        for number in 1...1000 {
            cache.put(answer, at: try key("http://h/\(number)"))
            #expect(cache.cost <= 100_000)
            // Used all the time, so it stays.
            #expect(cache.find(try key("http://h/1"), for: request) != nil)
        }
        #expect(cache.count == 9)
        #expect(cache.find(try key("http://h/1000"), for: request) != nil)
        #expect(cache.find(try key("http://h/991"), for: request) == nil)
        cache.removeAll { _ in true }
        #expect(cache.count == 0 && cache.cost == 0)
        cache.put(answer, at: try key("http://h/1"))
        #expect(cache.count == 1)
    }

    @Test("an answer that would drive out all others is not kept")
    func large() throws {
        var cache = ResponseCacheStorage(limit: 100_000)
        let (small, request) = try answer(1_000)
        let (large, _) = try answer(30_000)
        cache.put(small, at: try key("http://h/small"))
        cache.put(large, at: try key("http://h/large"))
        #expect(cache.count == 1)
        #expect(cache.find(try key("http://h/small"), for: request) != nil)
        var none = ResponseCacheStorage(limit: 0)
        none.put(small, at: try key("http://h/small"))
        #expect(none.count == 0)
    }

    @Test("what an answer takes besides its body counts, and so does unused room of a body")
    func cost() throws {
        var cache = ResponseCacheStorage(limit: 1 << 20)
        for number in 0..<100 { cache.put(try answer(0).0, at: try key("http://h/\(number)")) }
        let empty = cache.cost
        #expect(empty >= 100 * 1024)
        cache.removeAll { _ in true }
        var body: [UInt8] = []
        body.reserveCapacity(8_000)
        let (request, moment) = (HTTPRequest(method: "GET", url: "http://h/"), ManualClock.moment(.zero))
        let reply = HTTPResponse(status: 200, headers: [], body: body)
        let roomy = try #require(
            CachedResponse(reply, to: request, freshFor: .seconds(9), sentAt: moment, receivedAt: moment))
        cache.put(roomy, at: try key("http://h/"))
        #expect(cache.cost >= empty / 100 + 8_000)
    }

    @Test("each variant of a URL is kept, the last few of them")
    func variants() throws {
        var cache = ResponseCacheStorage(limit: 100_000)
        for number in 1...20 { cache.put(try answer(10, language: "\(number)").0, at: try key("http://h/")) }
        #expect(cache.count == 1)
        #expect(cache.find(try key("http://h/"), for: try answer(1, language: "20").1) != nil)
        #expect(cache.find(try key("http://h/"), for: try answer(1, language: "13").1) != nil)
        #expect(cache.find(try key("http://h/"), for: try answer(1, language: "12").1) == nil)
    }

    @Test("nothing is found by another session, another sign-in or another query")
    func keys() throws {
        var cache = ResponseCacheStorage(limit: 100_000)
        let (answer, request) = try answer(10)
        cache.put(answer, at: try key("http://h/a?q=1"))
        for other in [
            try key("http://h/a?q=2"), try key("http://h/a"), try key("http://h/a?q=1", signedInAt: 2),
            try key("http://h/a?q=1", session: "other"),
        ] { #expect(cache.find(other, for: request) == nil) }
    }
}
