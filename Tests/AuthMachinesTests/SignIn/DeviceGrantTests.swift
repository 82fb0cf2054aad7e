import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("The device grant (RFC 8628)")
struct DeviceGrantTests {
    private static let start = BootInstant(sinceBoot: .seconds(1000))

    private func device(_ text: String) throws -> DeviceAuthorization {
        try DeviceAuthorization(try JSON(parsing: Array(text.utf8)))
    }

    private func no(_ code: String) -> Result<Grant, ProviderFailure> {
        .failure(.refused(AgentError(.validation, "no", cause: code, httpStatus: 400)))
    }

    @Test("the answer of §3.2 is read")
    func section3_2() throws {
        let device = try device(
            """
            {"device_code":"GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS","user_code":"WDJB-MJHT",
             "verification_uri":"https://example.com/device",
             "verification_uri_complete":"https://example.com/device?user_code=WDJB-MJHT",
             "expires_in":1800,"interval":5}
            """)
        #expect(device.userCode == "WDJB-MJHT")
        #expect(device.verificationURI == "https://example.com/device")
        #expect(device.completeURI == "https://example.com/device?user_code=WDJB-MJHT")
        #expect(device.lifetime == .seconds(1800))
        #expect(device.interval == .seconds(5))
    }

    @Test("an older spelling is read, and what is missing has the RFC's own value")
    func older() throws {
        let device = try device(
            #"{"device_code":"d","user_code":"U","verification_url":"https://example.com/d","expires_in":"60"}"#)
        #expect(device.verificationURI == "https://example.com/d")
        #expect(device.interval == .seconds(5))
        #expect(device.lifetime == .seconds(60))
    }

    @Test(
        "a lifetime and an interval may be numbers in strings, as in '1e3'; other text counts as missing",
        arguments: [
            ("3600", 3600, 60), ("1e3", 1000, 60), ("1E1", 10, 10), ("+5", 5, 5), ("-5", 1, 1), ("1e999", 600, 5),
            ("nan", 600, 5), ("inf", 600, 5), ("0x10", 600, 5), ("", 600, 5),
        ])
    func numbersInStrings(text: String, lifetime: Int, interval: Int) throws {
        let device = try device(
            """
            {"device_code":"d","user_code":"U","verification_uri":"https://example.com/d",
             "expires_in":"\(text)","interval":"\(text)"}
            """)
        #expect(device.lifetime == .seconds(lifetime))
        #expect(device.interval == .seconds(interval))
    }

    @Test(
        "a response that a user could not use, or a terminal would act on, is refused",
        arguments: [
            #"{"user_code":"U","verification_uri":"https://example.com"}"#,
            #"{"device_code":"d","verification_uri":"https://example.com"}"#,
            #"{"device_code":"d","user_code":"U"}"#,
            #"{"device_code":"d","user_code":"U","verification_uri":"javascript:alert(1)"}"#,
            #"{"device_code":"d","user_code":"U","verification_uri":"https://example.com/\u001b[2J"}"#,
        ])
    func useless(text: String) {
        #expect(throws: MetadataError.self) { try device(text) }
    }

    @Test("pending keeps the interval, and each slow_down adds five seconds to all that follow (§3.5)")
    func slowDown() throws {
        var poll = DevicePoll(try example(lifetime: 600), from: Self.start)
        #expect(poll.nextAt == Self.start + .seconds(5))
        var now = poll.nextAt
        for (code, wait) in [
            ("authorization_pending", 5), ("slow_down", 10), ("authorization_pending", 10), ("slow_down", 15),
        ] {
            #expect(try poll.handle(no(code), at: now) == nil, "\(code)")
            #expect(poll.nextAt == now + .seconds(wait))
            now = poll.nextAt
        }
    }

    @Test("a storm of slow_down ends in two minutes' steps, not in days")
    func storm() throws {
        var poll = DevicePoll(try example(lifetime: 86_400), from: Self.start)
        for _ in 0..<100 { _ = try poll.handle(no("slow_down"), at: Self.start) }
        #expect(poll.nextAt == Self.start + .seconds(120))
    }

    @Test("a lost connection doubles the pause until the next response, and a page from a portal is not one")
    func lost() throws {
        var poll = DevicePoll(try example(lifetime: 600), from: Self.start)
        let lost = ProviderFailure.temporary(AgentError(.badReply, "a page", cause: "html"), retryAfter: nil)
        for wait in [10, 20, 40] {
            #expect(try poll.handle(.failure(lost), at: Self.start) == nil)
            #expect(poll.nextAt == Self.start + .seconds(wait))
        }
        #expect(try poll.handle(no("authorization_pending"), at: Self.start) == nil)
        #expect(poll.nextAt == Self.start + .seconds(5))
    }

    @Test("the provider's Retry-After holds, however long it is")
    func retryAfter() throws {
        var poll = DevicePoll(try example(lifetime: 600), from: Self.start)
        let busy = AgentError(.providerError, "busy")
        #expect(try poll.handle(.failure(.temporary(busy, retryAfter: .seconds(300))), at: Self.start) == nil)
        #expect(poll.nextAt == Self.start + .seconds(300) && poll.wakeAt == poll.nextAt)
        // There is no time for another request.
        #expect(try poll.handle(.failure(.temporary(busy, retryAfter: .seconds(700))), at: Self.start) == nil)
        #expect(poll.wakeAt == poll.endsAt && poll.end(at: poll.endsAt) != nil)
    }

    @Test(
        "a denial, an end and any other no are the end",
        arguments: [
            ("access_denied", ErrorKind.denied), ("expired_token", .timeout), ("invalid_grant", .validation),
        ])
    func ends(code: String, kind: ErrorKind) throws {
        var poll = DevicePoll(try example(lifetime: 600), from: Self.start)
        let error = #expect(throws: AgentError.self) { try poll.handle(no(code), at: Self.start) }
        #expect(error?.kind == kind)
    }

    @Test("the code ends at its expiry, not at the last possible poll, and there is no poll afterwards")
    func expiry() throws {
        var poll = DevicePoll(try example(lifetime: 12), from: Self.start)
        for seconds in [5, 10] {
            #expect(poll.wakeAt == Self.start + .seconds(seconds))
            #expect(poll.end(at: poll.wakeAt) == nil)
            #expect(try poll.handle(no("authorization_pending"), at: poll.wakeAt) == nil, "\(seconds)")
        }
        #expect(poll.wakeAt == Self.start + .seconds(12))
        #expect(poll.end(at: Self.start + .seconds(11)) == nil)
        #expect(poll.end(at: poll.wakeAt)?.kind == .timeout)
        // A late response is the last one.
        let error = #expect(throws: AgentError.self) {
            try poll.handle(no("authorization_pending"), at: Self.start + .seconds(13))
        }
        #expect(error?.kind == .timeout)
    }

    @Test("a token that is none for us ends it, as the code is good for one")
    func useless() throws {
        var poll = DevicePoll(try example(lifetime: 600), from: Self.start)
        let useless = ProviderFailure.temporary(AgentError(.badReply, "a mac", cause: "token_type"), retryAfter: nil)
        let error = #expect(throws: AgentError.self) { try poll.handle(.failure(useless), at: Self.start) }
        #expect(error?.kind == .badReply)
    }

    private func example(lifetime: Int) throws -> DeviceAuthorization {
        try device(
            """
            {"device_code":"d","user_code":"U","verification_uri":"https://example.com/d",
             "expires_in":\(lifetime),"interval":5}
            """)
    }
}
