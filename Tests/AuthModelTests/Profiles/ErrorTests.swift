import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("The meaning of a provider's error")
struct ErrorTests {
    private func signIn(_ reply: HTTPResponse) throws -> ProviderFailure {
        try #require(
            try Sample.profile().signInResult(reply, method: Sample.password(), sentAt: Sample.sentAt).failure)
    }

    private func renewal(
        _ reply: HTTPResponse, _ change: (inout ProviderProfile) throws -> Void = { _ in }
    ) throws -> ProviderFailure {
        try #require(
            try Sample.profile(change).renewalResult(reply, record: Sample.record(), sentAt: Sample.sentAt).failure)
    }

    @Test(
        "at sign-in each status has its kind",
        arguments: [
            (400, "validation", "refused"), (401, "refused", "refused"), (403, "forbidden", "refused"),
            (404, "not_found", "refused"), (409, "conflict", "refused"), (410, "not_found", "refused"),
            (413, "too_large", "refused"), (418, "provider_error", "refused"), (422, "validation", "refused"),
            (408, "timeout", "temporary"), (429, "rate_limited", "temporary"), (500, "provider_error", "temporary"),
            (503, "provider_error", "temporary"), (302, "bad_reply", "temporary"),
        ])
    func kinds(_ status: Int, _ kind: String, _ weight: String) throws {
        let failure = try signIn(Sample.reply(status, #"{"message":"Own words."}"#))
        #expect(failure.error.kind?.rawValue == kind)
        #expect(failure.weight == weight)
        #expect(failure.error.httpStatus == status)
        #expect(failure.error.providerMessage == "Own words.")
    }

    @Test("a renewal ends a session only with the profile's status or code; anything else is tried again")
    func finalAnswers() throws {
        let final = try renewal(Sample.reply(401, #"{"message":"Token expired"}"#))
        #expect(final.weight == "final")
        #expect(final.error.kind == .signInRequired)
        #expect(final.error.providerMessage == "Token expired")
        #expect(try renewal(Sample.reply(400, #"{"code":"invalid_grant"}"#)).weight == "final")
        #expect(try renewal(Sample.reply(401, "")).weight == "final")
        for status in [400, 403, 404, 408, 409, 418, 429, 500, 502, 503, 504, 301] {
            #expect(try renewal(Sample.reply(status, "{}")).weight == "temporary", "\(status)")
        }
        #expect(try renewal(Sample.reply(503, #"{"code":"invalid_grant"}"#)).weight == "temporary")
    }

    @Test(
        "a page or an unreadable body never ends a session, whatever its status", arguments: [200, 302, 400, 401, 403])
    func pages(_ status: Int) throws {
        let page = "<!doctype html><title>Sign in to Hotel Wi-Fi</title>"
        for reply in [
            Sample.reply(status, page, type: "text/html; charset=utf-8"), Sample.reply(status, page, type: nil),
            Sample.reply(status, "{\"token\":", type: "application/json"),
            HTTPResponse(status: status, headers: [], body: [0xFF, 0xFE, 0x00]),
            Sample.reply(status, String(repeating: "[", count: 5000), type: "application/json"),
        ] {
            let failure = try renewal(reply)
            #expect(failure.weight == "temporary")
            #expect(failure.error.kind == .badReply)
            #expect(try signIn(reply).error.kind == .badReply)
        }
    }

    @Test("a gateway's error page is a failure of the provider")
    func gatewayPage() throws {
        let failure = try renewal(Sample.reply(502, "<html>Bad Gateway</html>", type: "text/html"))
        #expect(failure.error.kind == .providerError)
        #expect(failure.error.providerMessage == nil)
    }

    @Test("a validation's 401 ends a session only if nothing else could renew it")
    func validation() throws {
        func weight(_ kind: Renewal.Kind) throws -> String? {
            try Sample.profile { $0.renewal = Renewal(kind: kind) }
                .validationResult(Sample.reply(401, "{}"), record: Sample.record(), sentAt: Sample.sentAt).failure?
                .weight
        }
        #expect(try weight(.refresh) == "refused")
        #expect(try weight(.signIn) == "refused")
        #expect(try weight(.validate) == "final")
        #expect(try weight(.none) == "final")
    }

    @Test(
        "messages are found in every shape that backends send",
        arguments: [
            (#"{"message":"One"}"#, "One", []), (#"{"error":"Two"}"#, "Two", []), (#""Three""#, "Three", []),
            (#"{"message":"","error":"Four"}"#, "Four", []), (#"{"message":7}"#, nil, []), ("{}", nil, []),
            ("", nil, []),
            (#"{"message":["a","b"]}"#, "a; b", ["a", "b"]),
            (#"{"message":"No","errors":["a","b"]}"#, "No", ["a", "b"]),
            (
                #"{"errors":[{"field":"email","message":"is bad"},{"msg":"x"},{}]}"#, "email: is bad; x",
                ["email: is bad", "x"]
            ),
            (
                #"{"errors":{"email":["bad","taken"],"name":"short"}}"#, "email: bad, taken; name: short",
                ["email: bad, taken", "name: short"]
            ),
            (#"{"errors":"only one"}"#, "only one", ["only one"]),
        ] as [(String, String?, [String])])
    func words(_ body: String, _ message: String?, _ details: [String]) throws {
        let error = try signIn(Sample.reply(400, body)).error
        #expect(error.providerMessage == message)
        #expect(error.details == details)
    }

    @Test("a plain text is its own message")
    func plainText() throws {
        #expect(
            try signIn(Sample.reply(400, "Code expired\n", type: "text/plain")).error.providerMessage == "Code expired")
    }

    @Test("the server's message is bounded and has no terminal sequences")
    func harmless() throws {
        let nasty = #"{"message":"\u001b[2J\u0007red\r\nnext\u202eesrever\u0000 \u009b31m"}"#
        #expect(try signIn(Sample.reply(400, nasty)).error.providerMessage == "[2J red next esrever 31m")
        let long = try signIn(Sample.reply(400, #"{"message":"\#(String(repeating: "x", count: 100_000))"}"#))
        #expect(long.error.providerMessage?.count == 501)
        let many = #"{"errors":[\#(Array(repeating: #""x""#, count: 1000).joined(separator: ","))]}"#
        #expect(try signIn(Sample.reply(400, many)).error.details.count == 32)
    }

    @Test(
        "Retry-After is read in both forms, relative to the response's clock, and limited to a day",
        arguments: [
            (["Retry-After": "120"], 120), (["retry-after": " 5 "], 5), (["Retry-After": "0"], 0),
            (["Retry-After": "99999999999999999999"], 86_400), (["Retry-After": "-5"], nil),
            (["Retry-After": "soon"], nil),
            (["Retry-After": "1.5"], nil), ([:], nil),
            (["Retry-After": "Fri, 15 Jan 2027 08:01:40 GMT"], 100),
            (["Retry-After": "Fri, 15 Jan 2027 09:00:30 GMT", "Date": "Fri, 15 Jan 2027 09:00:00 GMT"], 30),
            (["Retry-After": "Fri, 15 Jan 2027 07:00:00 GMT"], 0),
        ] as [([String: String], Int?)])
    func retryAfter(_ headers: [String: String], _ seconds: Int?) throws {
        let expected = seconds.map { Duration.seconds($0) }
        for status in [429, 503] {
            guard case .temporary(let error, let retryAfter) = try renewal(Sample.reply(status, "{}", headers)) else {
                Issue.record("not temporary")
                return
            }
            #expect(retryAfter == expected)
            #expect(error.retryAfter == expected)
        }
    }

    @Test("a failed exchange is never final")
    func transport() {
        let errors: [(TransportError, ErrorKind)] = [
            (.offline(reason: "no route"), .offline), (.nameNotResolved(host: "h"), .providerUnreachable),
            (.connectionRefused(host: "h"), .providerUnreachable),
            (.timedOut(host: "h", after: .seconds(30)), .timeout),
            (.tls(host: "h", reason: "r"), .providerUnreachable),
            (.certificate(host: "h", reason: "r"), .providerUnreachable), (.portal, .captivePortal),
            (.connectionLost(host: "h", reason: "r"), .providerUnreachable), (.tooLarge(limit: 8 << 20), .badReply),
            (.redirected(toOrigin: "https://portal.example"), .badReply), (.proxy(reason: "407"), .providerUnreachable),
            (.badURL(reason: "r"), .providerUnreachable), (.cancelled, .timeout),
        ]
        for (error, kind) in errors {
            #expect(ProviderFailure(error).weight == "temporary")
            #expect(ProviderFailure(error).error.kind == kind)
        }
    }
}

@Suite("Errors inside a success")
struct EnvelopeTests {
    private func profile() throws -> ProviderProfile {
        try Sample.profile {
            $0.errors = ErrorMap(
                message: [try JSONPointer("/errorMsg")], code: try JSONPointer("/errorCode"),
                envelope: .init(
                    pointer: try JSONPointer("/errorCode"), success: 0, status: try JSONPointer("/statusCode")))
            $0.renewal.finalCodes = ["1003"]
        }
    }

    private func read(_ body: String) throws -> (signIn: ProviderFailure?, renewal: ProviderFailure?) {
        let profile = try profile()
        let reply = Sample.reply(200, body)
        return (
            profile.signInResult(reply, method: try Sample.password(), sentAt: Sample.sentAt).failure,
            profile.renewalResult(reply, record: try Sample.record(), sentAt: Sample.sentAt).failure
        )
    }

    @Test("a 200 that reports success is a success, in any spelling of zero")
    func success() throws {
        for zero in ["0", "0.0", "0e0"] {
            let (signIn, renewal) = try read(#"{"errorCode":\#(zero),"token":"t"}"#)
            #expect(signIn == nil)
            #expect(renewal == nil)
        }
    }

    @Test("an error in a 200 is refused at sign-in with the backend's message, and temporary at renewal")
    func error() throws {
        let (signIn, renewal) = try read(#"{"errorCode":1001,"errorMsg":"Wrong password","token":"t"}"#)
        #expect(signIn?.weight == "refused")
        #expect(signIn?.error.kind == .refused)
        #expect(signIn?.error.providerMessage == "Wrong password")
        #expect(signIn?.error.cause == "1001")
        #expect(renewal?.weight == "temporary")
    }

    @Test("the envelope's own status counts")
    func ownStatus() throws {
        let (signIn, renewal) = try read(#"{"errorCode":1,"statusCode":401,"errorMsg":"Over"}"#)
        #expect(signIn?.error.httpStatus == 401)
        #expect(renewal?.weight == "final")
        let limited = try read(#"{"errorCode":1,"statusCode":429}"#)
        #expect(limited.renewal?.error.kind == .rateLimited)
        #expect(limited.signIn?.weight == "temporary")
    }

    @Test("a final code ends the session even without a status")
    func finalCode() throws {
        #expect(try read(#"{"errorCode":1003}"#).renewal?.weight == "final")
    }

    @Test("a 200 without the envelope is an invalid response")
    func missing() throws {
        let (signIn, renewal) = try read(#"{"token":"t"}"#)
        #expect(signIn?.error.kind == .badReply)
        #expect(renewal?.weight == "temporary")
    }
}
