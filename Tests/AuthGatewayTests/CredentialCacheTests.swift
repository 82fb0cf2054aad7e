import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("Credentials of AWS in memory")
struct CredentialCacheTests {
    private let problem = FrontProblem(502, .providerUnreachable, "It cannot be reached.")

    private func moment(_ seconds: Double) -> Moment {
        Moment(boot: BootInstant(sinceBoot: .seconds(seconds)), wall: WallTime(unixSeconds: 1_000_000 + seconds))
    }

    private func credentials(_ id: String, endAt seconds: Double) -> AWSCredentials {
        AWSCredentials(
            keyID: id, secretKey: Secret("secret"), sessionToken: Secret("token"), expiration: "",
            end: WallTime(unixSeconds: 1_000_000 + seconds))
    }

    @Test("one exchange is in progress, and everyone who asks meanwhile waits for it")
    func oneExchange() {
        var cache = CredentialCache()
        #expect(cache.request(now: moment(0)) == .exchange)
        for _ in 1...20 { #expect(cache.request(now: moment(1)) == .wait) }
        let first = credentials("A", endAt: 3600)
        #expect(cache.end(.success(first), now: moment(2)) == .success(first))
        #expect(cache.request(now: moment(3)) == .use(first))
    }

    @Test("they are renewed 15 minutes before their end, or in the last quarter of a shorter life")
    func renewal() {
        var hour = CredentialCache()
        _ = hour.request(now: moment(0))
        let long = credentials("A", endAt: 7200)
        _ = hour.end(.success(long), now: moment(0))
        #expect(hour.request(now: moment(7200 - 901)) == .use(long))
        #expect(hour.request(now: moment(7200 - 900)) == .exchange)
        var quarter = CredentialCache()
        _ = quarter.request(now: moment(0))
        let short = credentials("B", endAt: 400)
        _ = quarter.end(.success(short), now: moment(0))
        #expect(quarter.request(now: moment(299)) == .use(short))
        #expect(quarter.request(now: moment(300)) == .exchange)
    }

    @Test("while others cannot be had, those that are valid are given out, and no ended ones")
    func failedRenewal() {
        var cache = CredentialCache()
        _ = cache.request(now: moment(0))
        let old = credentials("A", endAt: 3600)
        _ = cache.end(.success(old), now: moment(0))
        #expect(cache.request(now: moment(3000)) == .exchange)
        #expect(cache.end(.failure(problem), now: moment(3001)) == .success(old))
        #expect(cache.request(now: moment(3002)) == .use(old))
        #expect(cache.request(now: moment(3541)) == .exchange)
        #expect(cache.end(.failure(problem), now: moment(3541)) == .failure(problem))
    }

    @Test("a failure is the answer for two seconds")
    func pause() {
        var cache = CredentialCache()
        #expect(cache.request(now: moment(0)) == .exchange)
        #expect(cache.end(.failure(problem), now: moment(0)) == .failure(problem))
        #expect(cache.request(now: moment(1)) == .refuse(problem))
        #expect(cache.request(now: moment(2)) == .exchange)
    }

    @Test("if they seem to have ended already, not every request is an exchange")
    func wrongClock() {
        var cache = CredentialCache()
        _ = cache.request(now: moment(0))
        let past = credentials("A", endAt: -100)
        #expect(cache.end(.success(past), now: moment(0)) == .success(past))
        #expect(cache.request(now: moment(1)) == .use(past))
        #expect(cache.request(now: moment(2)) == .exchange)
    }
}
