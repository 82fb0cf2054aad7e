import AuthModel
import AuthProviders
import AuthWire
import Testing

/// A bundled profile in use, without a network.
private struct Provider {
    let profile: ProviderProfile
    let sentAt = WallTime(unixSeconds: 1_800_000_000)

    init(_ name: String) throws {
        let text = try #require(BundledProfiles.texts[name])
        profile = try ProfileReader.read(text, source: BundledProfiles.source)
    }

    func signIn(
        _ fields: [String: String], method: String? = nil, environment: String? = nil
    ) throws -> HTTPRequest {
        try profile.signInRequest(
            method: profile.method(named: method), environment: profile.environment(named: environment).name,
            fields: fields.mapValues { Secret($0) })
    }

    func readSignIn(_ status: Int, _ body: String) throws -> Result<Grant, ProviderFailure> {
        let method = try profile.method(named: nil)
        return Result { () throws(ProviderFailure) in
            try profile.readSignIn(reply(status, body), method: method, sentAt: sentAt)
        }
    }

    func readRenewal(_ status: Int, _ body: String) throws -> Result<Grant, ProviderFailure> {
        let record = try record()
        return Result { () throws(ProviderFailure) in
            try profile.readRenewal(reply(status, body), record: record, sentAt: sentAt)
        }
    }

    func readRepeatedSignIn(_ status: Int, _ body: String) throws -> Result<SignInResponse, ProviderFailure> {
        let method = try #require(profile.repeatedMethod)
        let values = SignInValues(environment: profile.defaultEnvironment, fields: [:])
        return Result { () throws(ProviderFailure) in
            try profile.read(reply(status, body), to: .own, of: method, values, purpose: .renewal, sentAt: sentAt)
        }
    }

    func readValidation(_ status: Int, _ body: String) throws -> Result<Grant, ProviderFailure> {
        let record = try record()
        return Result { () throws(ProviderFailure) in
            try profile.readValidation(reply(status, body), record: record, sentAt: sentAt)
        }
    }

    func record(remembered: [String: String]? = nil) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName("s"), provider: profile.name,
            environment: profile.defaultEnvironment, method: profile.signIn[0].name,
            tokens: TokenSet(accessToken: Secret("t-1"), issuedAt: sentAt),
            user: UserSummary(id: "u 1", email: "ada@example.org"), rawUser: nil, signedInAt: sentAt,
            remembered: remembered?.mapValues { Secret($0) })
    }

    private func reply(_ status: Int, _ body: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: Array(body.utf8))
    }
}

extension HTTPRequest {
    /// Method, URL, body and token, on one line each.
    fileprivate var golden: [String] {
        var lines = ["\(method) \(url)"]
        if let bearer = headers.first(where: { $0.name == "Authorization" }) { lines.append(bearer.value.reveal()) }
        if let body { lines.append(body.reveal()) }
        return lines
    }
}

extension Result where Failure == ProviderFailure {
    fileprivate var failure: ProviderFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }

    fileprivate var isFinal: Bool {
        if case .failure(.final) = self { true } else { false }
    }
}

private let answers = ["email": "ada@example.org", "password": "Secret1!"]
private let token = "e30.eyJleHAiOjE4MDAwMDAzMDB9.c2ln"  // {"exp":1800000300}

@Suite("Bundled profiles")
struct BundledProfileTests {
    @Test("have no problems, have the names of their texts, and name no files")
    func read() throws {
        let source = BundledProfiles.source
        let profiles = try BundledProfiles.texts.values.map { try ProfileReader.read($0, source: source) }
        #expect(Set(profiles.map(\.name)) == Set(BundledProfiles.texts.keys))
        for profile in profiles { #expect(BundledProfiles.all.first { $0.name == profile.name }?.profile == profile) }
        #expect(profiles.allSatisfy { $0.oauth?.tlsIdentity == nil })
        #expect(profiles.count == 5)
        #expect(
            profiles.allSatisfy { $0.signIn[0].name == "password" && $0.source == "bundled" && !$0.allowInsecureHTTP })
    }

    @Test("aws-lambda: requests as in its table")
    func awsLambdaRequests() throws {
        let provider = try Provider("aws-lambda")
        let base = "https://execute-api.aws-lambda.example/prod"
        #expect(
            try provider.signIn(answers).golden == [
                "POST \(base)/auth/login",
                #"{"email":"ada@example.org","password":"Secret1!","authProvider":"email"}"#,
            ])
        let register = answers.merging(["displayName": "Ada"]) { $1 }
        #expect(
            try provider.signIn(register, method: "register").golden == [
                "POST \(base)/auth/register",
                #"{"email":"ada@example.org","password":"Secret1!","displayName":"Ada","authProvider":"email"}"#,
            ])
        let record = try provider.record()
        #expect(try provider.profile.renewalRequest(record)?.golden == ["GET \(base)/auth/validate", "Bearer t-1"])
        #expect(try provider.profile.validationRequest(record)?.golden == ["GET \(base)/auth/validate", "Bearer t-1"])
        #expect(try provider.profile.userRequest(record)?.golden == ["GET \(base)/auth/profile", "Bearer t-1"])
        #expect(try provider.profile.signOutRequest(record) == nil)
    }

    @Test("aws-lambda: a registration's password and e-mail are checked before any call")
    func awsLambdaRules() throws {
        let provider = try Provider("aws-lambda")
        let error = #expect(throws: AgentError.self) {
            try provider.signIn(["email": "ada", "password": "secret", "displayName": "Ada"], method: "register")
        }
        #expect(error?.kind == .validation)
        #expect(error?.details.count == 5)
        #expect(
            provider.profile.signIn[1].fields[1].rules == [
                "at least 8 characters", "a lower-case letter", "an upper-case letter", "a digit",
                "one of @ $ ! % * ? &",
            ])
    }

    @Test("aws-lambda: responses have token, session and user; a validation may return only a later expiry")
    func awsLambdaReplies() throws {
        let provider = try Provider("aws-lambda")
        let user =
            #"{"userId":"u-1","email":"ada@example.org","displayName":"ada","profile":{"firstName":"Ada ","lastName":"Lovelace"}}"#
        let grant = try provider.readSignIn(
            200, #"{"message":"ok","user":\#(user),"token":"t-1","session":{"sessionId":"s","expiresAt":1800000100.5}}"#
        ).get()
        #expect(grant.accessToken == Secret("t-1"))
        #expect(grant.expiresAt?.unixSeconds == 1_800_000_100.5)
        #expect(grant.user == UserSummary(id: "u-1", email: "ada@example.org", name: "Ada Lovelace"))
        let renewed = try provider.readRenewal(
            200, #"{"message":"ok","user":\#(user),"session":{"expiresAt":1800000900}}"#)
        #expect(try renewed.get().accessToken == nil)
        #expect(try renewed.get().expiresAt?.unixSeconds == 1_800_000_900)
        #expect(try provider.readValidation(200, #"{"message":"ok","user":\#(user)}"#).get().expiresAt == nil)
        #expect(try provider.readRenewal(401, #"{"error":"Unauthorized","message":"Session over"}"#).isFinal)
        #expect(try !provider.readRenewal(500, #"{"error":"x"}"#).isFinal)
        let conflict = try provider.readSignIn(409, #"{"error":"Conflict","message":"exists","details":"ada"}"#).failure
        #expect(conflict?.error.kind == .conflict)
        #expect(conflict?.error.providerMessage == "exists")
        #expect(conflict?.error.details == ["ada"])
    }

    @Test("envelope: requests as in its table")
    func envelopeRequests() throws {
        let provider = try Provider("envelope")
        #expect(
            try provider.signIn(answers, environment: "debug").golden == [
                "POST http://localhost:8080/api/auth/login", #"{"email":"ada@example.org","password":"Secret1!"}"#,
            ])
        let record = try provider.record()
        let base = "https://envelope.example/api"
        #expect(try provider.profile.renewalRequest(record)?.golden == ["POST \(base)/auth/refresh", "Bearer t-1"])
        #expect(
            try provider.profile.userRequest(record)?.golden == [
                "GET \(base)/users/profile?userId=u%201", "Bearer t-1",
            ])
        #expect(provider.profile.environments.map(\.name) == ["production", "testing", "debug"])
    }

    @Test("envelope: a 200 with an error code is an error with the backend's message")
    func envelopeReplies() throws {
        let provider = try Provider("envelope")
        let good =
            #"{"errorCode":0,"errorMsg":"","token":"t-1","expiresIn":60,"user":{"userId":"u","email":"e","name":"N"}}"#
        let grant = try provider.readSignIn(200, good).get()
        #expect(grant.expiresAt == provider.sentAt + .seconds(60))
        #expect(grant.user == UserSummary(id: "u", email: "e", name: "N"))
        #expect(try provider.readRenewal(200, good).get().accessToken == Secret("t-1"))
        let wrong = #"{"errorCode":1001,"errorMsg":"Wrong password","statusCode":401}"#
        let refused = try provider.readSignIn(200, wrong).failure
        #expect(refused?.error.kind == .refused)
        #expect(refused?.error.providerMessage == "Wrong password")
        #expect(refused?.error.httpStatus == 401)
        #expect(try provider.readRenewal(200, wrong).isFinal)
        #expect(try !provider.readRenewal(200, #"{"errorCode":5,"errorMsg":"busy"}"#).isFinal)
    }

    @Test("anonymous-wall: a sign-in is repeated automatically only if it was remembered")
    func anonymousWall() throws {
        let provider = try Provider("anonymous-wall")
        let login = [
            "POST http://localhost:8080/api/v1/auth/login/password",
            #"{"email":"ada@example.org","password":"Secret1!"}"#,
        ]
        #expect(try provider.signIn(answers).golden == login)
        #expect(try provider.profile.repeatedSignIn(provider.record()) == nil)
        let repeated = try #require(try provider.profile.repeatedSignIn(provider.record(remembered: answers)))
        #expect(try provider.profile.request(.own, of: repeated.method, repeated.values).golden == login)
        let grant = try provider.readSignIn(
            200,
            #"{"accessToken":"\#(token)","user":{"id":"9","email":"e","isVerified":true,"createdAt":"2026-01-30T15:17:41-08:00[America/Los_Angeles]"}}"#
        ).get()
        #expect(grant.expiresAt?.unixSeconds == 1_800_000_300)
        #expect(grant.user == UserSummary(id: "9", email: "e", verified: true))
        #expect(try provider.readRepeatedSignIn(401, #""Invalid credentials""#).isFinal)
        #expect(
            try provider.readSignIn(401, #""Invalid credentials""#).failure?.error.providerMessage
                == "Invalid credentials")
    }

    @Test("fork-in-the-road: requests as in its table")
    func forkInTheRoadRequests() throws {
        let provider = try Provider("fork-in-the-road")
        #expect(
            try provider.signIn(answers, environment: "local").golden == [
                "POST http://localhost:3001/api/auth/login", #"{"email":"ada@example.org","password":"Secret1!"}"#,
            ])
        let base = "https://fork-in-the-road.example/api"
        let register = answers.merging(["name": "Ada"]) { $1 }
        #expect(
            try provider.signIn(register, method: "register").golden == [
                "POST \(base)/auth/register", #"{"email":"ada@example.org","password":"Secret1!","name":"Ada"}"#,
            ])
        let record = try provider.record()
        #expect(try provider.profile.renewalRequest(record)?.golden == ["POST \(base)/auth/refresh", "Bearer t-1"])
        #expect(try provider.profile.validationRequest(record)?.golden == ["GET \(base)/auth/me", "Bearer t-1"])
        #expect(try provider.profile.userRequest(record)?.golden == ["GET \(base)/auth/me", "Bearer t-1"])
    }

    @Test("fork-in-the-road: the message of a 5xx has its status, with and without a body", arguments: [500, 503])
    func forkInTheRoadFailures(status: Int) throws {
        let provider = try Provider("fork-in-the-road")
        for body in [#"{"message":"Database down","code":"DB_DOWN"}"#, ""] {
            let error = try #require(try provider.readSignIn(status, body).failure?.error)
            #expect(error.message.contains("server error (\(status))"))
            #expect(error.kind == .providerError && error.httpStatus == status)
            #expect(error.providerMessage == (body.isEmpty ? nil : "Database down"))
        }
    }

    @Test("fork-in-the-road: the token has its own expiry, and a 401 ends the session")
    func forkInTheRoadReplies() throws {
        let provider = try Provider("fork-in-the-road")
        let grant = try provider.readSignIn(200, #"{"token":"\#(token)","user":{"id":7,"email":"e","name":"N"}}"#).get()
        #expect(grant.expiresAt?.unixSeconds == 1_800_000_300)
        #expect(grant.user?.id == "7")
        #expect(try provider.readRenewal(200, #"{"token":"\#(token)"}"#).get().accessToken == Secret(token))
        let over = try provider.readRenewal(401, #"{"message":"Token expired","code":"TOKEN_EXPIRED"}"#)
        #expect(over.isFinal)
        #expect(over.failure?.error.providerMessage == "Token expired")
        #expect(try !provider.readValidation(401, "{}").isFinal)
    }

    @Test("app-template: requests as in its table")
    func appTemplateRequests() throws {
        let provider = try Provider("app-template")
        let base = "https://api.app-template.example"
        #expect(
            try provider.signIn(answers).golden == [
                "POST \(base)/auth/login", #"{"credentials":{"email":"ada@example.org","password":"Secret1!"}}"#,
            ])
        let record = try provider.record()
        #expect(try provider.profile.renewalRequest(record)?.golden == ["POST \(base)/auth/refresh", "Bearer t-1"])
        #expect(try provider.profile.userRequest(record)?.golden == ["GET \(base)/users/u%201", "Bearer t-1"])
    }

    @Test("app-template: a renewal returns a date, a sign-in the token's expiry; a 400 lists what is wrong")
    func appTemplateReplies() throws {
        let provider = try Provider("app-template")
        let grant = try provider.readSignIn(
            200, #"{"user":{"id":"1","email":"e","name":"N"},"token":"\#(token)","refreshToken":"r-1"}"#
        ).get()
        #expect(grant.expiresAt?.unixSeconds == 1_800_000_300)
        #expect(grant.refreshToken == Secret("r-1"))
        let renewed = try provider.readRenewal(200, #"{"token":"t-2","expiresAt":"2027-01-15T08:10:00Z"}"#).get()
        #expect(renewed.expiresAt?.unixSeconds == 1_800_000_600)
        #expect(renewed.refreshToken == nil)
        let invalid = try provider.readSignIn(
            400, #"{"message":"Validation failed","errors":["email is bad","too short"]}"#)
        #expect(invalid.failure?.error.kind == .validation)
        #expect(invalid.failure?.error.details == ["email is bad", "too short"])
        #expect(try provider.readRenewal(401, #"{"message":"Authentication failed"}"#).isFinal)
    }
}
