package import AuthModel
package import AuthWire

/// A small provider that uses most of what a profile can say, and answers to put before it.
package enum Sample {
    package static let sentAt = WallTime(unixSeconds: 1_800_000_000)

    package static func profile(_ change: (inout ProviderProfile) throws -> Void = { _ in }) throws -> ProviderProfile {
        var profile = ProviderProfile(
            name: "sample", title: "Sample", source: "test",
            environments: [
                ProviderEnvironment(name: "production", baseURL: "https://api.sample.example/v1"),
                ProviderEnvironment(name: "local", baseURL: "http://localhost:8080"),
            ],
            defaultEnvironment: "production", signIn: [try password()],
            renewal: Renewal(kind: .refresh, request: try request("POST", "/refresh"), finalCodes: ["invalid_grant"]))
        profile.reply = ResponseMap(
            accessToken: try .pointer(JSONPointer("/token")), refreshToken: try .pointer(JSONPointer("/refreshToken")),
            expiresIn: try .pointer(JSONPointer("/expiresIn")), expiresAt: try .pointer(JSONPointer("/expiresAt")),
            expiresFromJWT: true, user: [try JSONPointer("/user")])
        profile.errors = ErrorMap(
            message: [try JSONPointer("/message"), try JSONPointer("/error")], code: try JSONPointer("/code"),
            details: try JSONPointer("/errors"))
        profile.user = UserMap(
            id: [try JSONPointer("/id")], email: [try JSONPointer("/email")],
            name: [[try JSONPointer("/first"), try JSONPointer("/last")], [try JSONPointer("/nick")]],
            verified: try JSONPointer("/verified"))
        profile.validation = try request("GET", "/me")
        profile.userRequest = UserRequest(
            request: try request("GET", "/users/{user.id}"), user: [try JSONPointer("")])
        try change(&profile)
        return profile
    }

    package static func password() throws -> SignInMethod {
        SignInMethod(
            name: "password", label: "E-mail and password",
            fields: [
                StepField(name: "email", label: "E-mail", kind: "email"),
                StepField(name: "password", label: "Password", secret: true, kind: "password"),
                StepField(name: "device", label: "Device", optional: true),
            ],
            rules: ["email": [.email]],
            request: RequestTemplate(
                method: "POST", path: try Template(parsing: "/login"),
                body: .json(
                    .object([
                        ("email", .text(try Template(parsing: "{email}"))),
                        ("password", .text(try Template(parsing: "{password}"))),
                        ("device", .text(try Template(parsing: "{device}"))),
                        ("remember", .literal(true)),
                    ]))))
    }

    package static func request(_ method: String, _ path: String) throws -> RequestTemplate {
        RequestTemplate(method: method, path: try Template(parsing: path), bearer: true)
    }

    package static func record(
        userID: String? = "42", refreshToken: String? = nil, remembered: [String: String]? = nil
    ) throws -> SessionRecord {
        SessionRecord(
            session: try SessionName("sample"), provider: "sample", environment: "production", method: "password",
            tokens: TokenSet(
                accessToken: Secret("token-1"), refreshToken: refreshToken.map { Secret($0) }, issuedAt: sentAt),
            user: UserSummary(id: userID, email: "ada@example.org"), rawUser: nil, signedInAt: sentAt,
            remembered: remembered?.mapValues { Secret($0) })
    }

    package static func reply(
        _ status: Int = 200, _ body: String = "", type: String? = "application/json", _ headers: [String: String] = [:]
    ) -> HTTPResponse {
        var fields = headers.map { (name: $0.key, value: $0.value) }
        if let type { fields.append(("content-type", type)) }
        return HTTPResponse(status: status, headers: fields, body: Array(body.utf8))
    }

    /// A JWT with these claims and a signature that nobody checks.
    package static func jwt(_ claims: String) -> String {
        "\(base64URL(#"{"alg":"HS256"}"#)).\(base64URL(claims)).c2ln"
    }

    package static func base64URL(_ text: String) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var letters = ""
        var bits = 0
        var count = 0
        for byte in text.utf8 {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 6 {
                count -= 6
                letters.append(alphabet[bits >> count & 63])
            }
        }
        if count > 0 { letters.append(alphabet[bits << (6 - count) & 63]) }
        return letters
    }
}

extension HTTPRequest {
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value.reveal() }

    /// As JSON; `nil` without one.
    package var json: JSON? { body.flatMap { try? JSON(parsing: $0.revealBytes()) } }
}

/// What a response is read as, or why it is a failure, for tests of both.
extension ProviderProfile {
    package func signInResult(
        _ reply: HTTPResponse, method: SignInMethod, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        Result { () throws(ProviderFailure) in try readSignIn(reply, method: method, sentAt: sentAt) }
    }

    package func renewalResult(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        Result { () throws(ProviderFailure) in try readRenewal(reply, record: record, sentAt: sentAt) }
    }

    package func validationResult(
        _ reply: HTTPResponse, record: SessionRecord, sentAt: WallTime
    ) -> Result<Grant, ProviderFailure> {
        Result { () throws(ProviderFailure) in try readValidation(reply, record: record, sentAt: sentAt) }
    }

    package func userResult(_ reply: HTTPResponse) -> Result<(raw: JSON, summary: UserSummary), ProviderFailure> {
        Result { () throws(ProviderFailure) in try readUser(reply) }
    }
}

extension TokenResponse {
    package func result(_ reply: HTTPResponse) -> Result<Grant, ProviderFailure> {
        Result { () throws(ProviderFailure) in try read(reply) }
    }
}

extension ResponseDecoder {
    package func result(_ reply: HTTPResponse) -> Result<APIResponse, ProviderFailure> {
        Result { () throws(ProviderFailure) in try read(reply) }
    }
}

extension Result where Failure == ProviderFailure {
    package var failure: ProviderFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

extension ProviderFailure {
    /// Which of its three cases it is, for a short assertion.
    package var weight: String {
        switch self {
        case .final: "final"
        case .refused: "refused"
        case .temporary: "temporary"
        }
    }
}
