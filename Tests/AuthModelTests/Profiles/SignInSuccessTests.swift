import AgentTestSupport
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in with a rule for its success")
struct SignInSuccessTests {
    private static let page = "<!DOCTYPE html><title>Log in</title>"

    private func profile(_ success: ResponseRule = ResponseRule(statuses: [302])) throws -> ProviderProfile {
        try Sample.profile {
            $0.reply = ResponseMap(accessToken: .cookie("sid"), success: success)
        }
    }

    private func read(
        _ status: Int, _ headers: [String: String] = ["Set-Cookie": "sid=s-1; Max-Age=60", "Location": "/home"],
        _ body: String = page, type: String = "text/html", by success: ResponseRule = ResponseRule(statuses: [302])
    ) throws -> Result<Grant, ProviderFailure> {
        try profile(success).signInResult(
            Sample.reply(status, body, type: type, headers), method: Sample.password(), sentAt: Sample.sentAt)
    }

    @Test("a redirect with the cookie signs in until the cookie ends, whatever its body is")
    func redirect() throws {
        for body in ["", Self.page, "{", "{}"] {
            let grant = try read(302, body: body).get()
            #expect(grant.accessToken == Secret("s-1"))
            #expect(grant.expiresAt == Sample.sentAt + .seconds(60))
        }
    }

    private func read(_ status: Int, body: String) throws -> Result<Grant, ProviderFailure> {
        try read(status, ["Set-Cookie": "sid=s-1; Max-Age=60"], body, type: "text/html")
    }

    @Test("another response below 400 is a refusal, even with a page; error statuses are read as usual")
    func otherStatuses() throws {
        for status in [200, 204, 303] {
            let failure = try read(status).failure
            #expect(failure?.error.kind == .refused && failure?.error.cause == "no_success", "\(status)")
            #expect(failure?.error.httpStatus == status)
        }
        #expect(try read(401, [:], "{}", type: "application/json").failure?.error.kind == .refused)
        #expect(try read(403).failure?.error.cause == "html")
        #expect(try read(503, [:], "{}", type: "application/json").failure?.error.kind == .providerError)
    }

    @Test("a redirect without the cookie has no token")
    func withoutCookie() throws {
        #expect(try read(302, ["Location": "/home"]).failure?.error.cause == "no_token")
    }

    @Test("a place decides if the status does not")
    func place() throws {
        let home = ResponseRule(statuses: [302], place: .header("Location"), value: .equals(["/home", "/"]))
        #expect(try read(302, by: home).failure == nil)
        let back = ["Set-Cookie": "sid=s-1", "Location": "/login?error"]
        #expect(try read(302, back, by: home).failure?.error.cause == "no_success")
        // Without a status in the rule, it must be 2xx.
        let cookie = ResponseRule(place: .cookie("sid"), value: .exists)
        #expect(try read(200, by: cookie).failure == nil)
        #expect(try read(200, [:], by: cookie).failure?.error.cause == "no_success")
        #expect(try read(302, by: cookie).failure?.error.cause == "no_success")
    }

    // MARK: Errors with a code

    /// What a response that the rule does not accept means for a user's sign-in and for a repeated one.
    private func read(
        _ body: String, _ errors: ErrorMap
    ) throws -> (signIn: ProviderFailure?, repeated: ProviderFailure?) {
        let ok = ResponseRule(place: .pointer(try JSONPointer("/ok")), value: .equals([.bool(true)]))
        let profile = try Sample.profile {
            $0.reply.success = ok
            $0.errors = errors
            $0.renewal = Renewal(kind: .signIn, finalCodes: ["bad_password"])
        }
        let reply = Sample.reply(200, body)
        let method = try Sample.password()
        let values = SignInValues(environment: "production", fields: [:])
        let repeated = Result { () throws(ProviderFailure) in
            try profile.read(reply, to: .own, of: method, values, purpose: .renewal, sentAt: Sample.sentAt)
        }
        return (
            profile.signInResult(reply, method: method, sentAt: Sample.sentAt).failure, repeated.failure
        )
    }

    @Test(
        "a final code ends a remembered sign-in, and a mapped one that may pass is temporary at a sign-in too",
        arguments: [
            ("bad_password", "refused", ErrorKind.refused, "final"), ("other", "refused", .refused, "temporary"),
            ("locked", "refused", .forbidden, "temporary"), ("busy", "temporary", .providerError, "temporary"),
        ])
    func codes(code: String, signIn: String, kind: ErrorKind, repeated: String) throws {
        let errors = ErrorMap(
            message: [try JSONPointer("/message")], code: try JSONPointer("/code"),
            kinds: ["busy": .providerError, "locked": .forbidden])
        let failures = try read(#"{"ok":false,"code":"\#(code)","message":"It says why."}"#, errors)
        #expect(failures.signIn?.weight == signIn && failures.signIn?.error.kind == kind)
        #expect(failures.repeated?.weight == repeated)
        for failure in [failures.signIn, failures.repeated] {
            #expect(failure?.error.providerMessage == "It says why.")
        }
    }

    @Test(
        "the envelope's status counts as the status of the response",
        arguments: [(401, "refused", "final"), (503, "temporary", "temporary")])
    func envelopeStatus(status: Int, signIn: String, repeated: String) throws {
        let envelope = ErrorMap.Envelope(
            pointer: try JSONPointer("/ok"), success: .bool(true), status: try JSONPointer("/status"))
        let failures = try read(#"{"ok":false,"status":\#(status)}"#, ErrorMap(envelope: envelope))
        #expect(failures.signIn?.weight == signIn && failures.signIn?.error.httpStatus == status)
        #expect(failures.repeated?.weight == repeated)
    }

    @Test(
        "a sign-out has a separate rule",
        arguments: [
            (nil, 204, nil), (nil, 401, .refused), (nil, 302, .badReply), ([401], 401, nil), ([200, 401], 200, nil),
            ([401], 200, .badReply), ([401], 500, .providerError), ([302], 302, nil), ([302], 403, .forbidden),
        ] as [(Set<Int>?, Int, ErrorKind?)])
    func signOut(statuses: Set<Int>?, status: Int, kind: ErrorKind?) throws {
        let profile = try Sample.profile {
            $0.signOut = RequestTemplate(method: "DELETE", path: try Template(parsing: "/session"), bearer: true)
            $0.signOutSuccess = statuses.map { ResponseRule(statuses: $0) }
        }
        let failure = profile.readSignOut(Sample.reply(status, "{}"), sentAt: Sample.sentAt)
        #expect(failure?.error.kind == kind)
        #expect(try profile.signOutRequest(Sample.record())?.acceptsRedirects == (statuses != nil))
    }

    @Test(
        "the rule applies to sign-ins, not to renewals and validations, and no other request accepts a redirect"
    )
    func otherResponses() throws {
        let profile = try profile()
        let record = try Sample.record()
        let cookie = ["Set-Cookie": "sid=s-2"]
        let renewed = profile.renewalResult(
            Sample.reply(200, "{}", type: "application/json", cookie), record: record, sentAt: Sample.sentAt)
        #expect(try renewed.get().accessToken == Secret("s-2"))
        #expect(
            profile.renewalResult(Sample.reply(302, "", type: nil, cookie), record: record, sentAt: Sample.sentAt)
                .failure
                != nil)
        #expect(
            profile.validationResult(Sample.reply(200, "{}"), record: record, sentAt: Sample.sentAt).failure == nil)
        let fields = ["email": Secret("a@b.example"), "password": Secret("pw")]
        let method = try Sample.password()
        #expect(
            try profile.signInRequest(method: method, environment: "production", fields: fields).acceptsRedirects)
        #expect(try profile.validationRequest(record)?.acceptsRedirects == false)
        #expect(
            try !Sample.profile().signInRequest(method: method, environment: "production", fields: fields)
                .acceptsRedirects)
    }
}
