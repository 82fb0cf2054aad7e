import AgentTestSupport
import AuthMachines
import AuthWire

@testable import AuthModel

/// A response as the transport delivers it: the status, header fields, an empty line, and the body.
struct ResponseInput {
    let reply: HTTPResponse

    init(_ bytes: [UInt8]) {
        var input = InputReader(bytes)
        let status = input.line().flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 200
        var headers: [(name: String, value: String)] = []
        while let line = input.line(), !line.isEmpty {
            let halves = String(decoding: line, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2 { headers.append((String(halves[0]), String(halves[1]).withoutSpaceAround)) }
        }
        reply = HTTPResponse(
            status: (100...599).contains(status) ? status : 200, headers: headers, body: Array(input.rest))
    }
}

extension FuzzTarget {
    private static let profiles: [ProviderProfile] = {
        let sample = try? Sample.profile()
        let headers = try? Sample.profile { profile in
            profile.reply.accessToken = .header("Authorization")
            profile.reply.refreshToken = .cookie("refresh")
            profile.renewal.finalStatuses = [401]
        }
        let cookies = try? Sample.profile { profile in
            profile.reply.accessToken = .cookie("token")
            profile.keepsCookies = true
        }
        let oauth = try? Sample.profile { profile in
            profile.oauth = OAuthProfile(issuer: "https://issuer.example.org", clientID: "authd", scopes: ["openid"])
        }
        return [sample, headers, cookies, oauth].compactMap(\.self)
    }()

    /// A provider's responses: to a sign-in, a renewal, a validation, a call.
    static let response = FuzzTarget("response") { bytes throws(Violation) in
        var reply = ResponseInput(bytes).reply
        let (sent, now) = (ManualClock.moment(.zero), ManualClock.moment(.seconds(2)))
        if let skew = ClockSkew(reply, sent: sent, received: now) {
            reply.skew = skew.value(at: now)
            _ = skew.reportable(at: now)
            try require(abs(reply.skew.seconds) < 1e12, "the clock is wrong by \(reply.skew)")
        }
        if let wait = RetryAfter.read(reply, sentAt: Sample.sentAt) {
            try require((.zero...RetryAfter.longest).contains(wait), "a wait of \(wait) is accepted")
        }
        if let age = CacheControl(reply).maxAge { try require(age >= .zero, "a negative age is accepted") }
        try require(profiles.count == 4, "a profile could not be made")
        for profile in profiles { try check(reply, profile) }
    }

    private static func check(_ reply: HTTPResponse, _ profile: ProviderProfile) throws(Violation) {
        guard let record = try? Sample.record(refreshToken: "refresh-1"), let method = profile.signIn.first else {
            throw Violation("the sample could not be made")
        }
        let sentAt = Sample.sentAt
        try check(profile.signInResult(reply, method: method, sentAt: sentAt), mayBeFinal: false)
        try check(profile.renewalResult(reply, record: record, sentAt: sentAt), mayBeFinal: true)
        try check(profile.validationResult(reply, record: record, sentAt: sentAt), mayBeFinal: false)
        try check(
            TokenResponse(profile: profile, purpose: .signIn, sentAt: sentAt).result(reply), mayBeFinal: false)
        try check(
            TokenResponse(profile: profile, purpose: .renewal, sentAt: sentAt).result(reply), mayBeFinal: true)
        if case .success(let user) = profile.userResult(reply) { try check(user.summary) }
        if let failure = profile.readSignOut(reply, sentAt: sentAt) { try check(failure.error) }
        for needsValues in [true, false] {
            let decoder = ResponseDecoder(
                profile: profile, sentAt: sentAt, acceptsHTML: false, needsValues: needsValues)
            switch decoder.result(reply) {
            case .success(let response):
                try require((try? JSON(parsing: response.json.serialized())) != nil, "a result that cannot be read")
            case .failure(let failure): try check(failure.error)
            }
        }
    }

    private static func check(_ result: Result<Grant, ProviderFailure>, mayBeFinal: Bool) throws(Violation) {
        switch result {
        case .success(let grant):
            for token in [grant.accessToken, grant.refreshToken].compactMap(\.self) {
                let bytes = token.revealBytes()
                try require(!bytes.isEmpty && bytes.count <= 32 << 10, "a token of \(bytes.count) bytes is accepted")
                try require(bytes.allSatisfy(\.isVisible), "a token is accepted that does not fit into a header")
            }
            for date in [grant.expiresAt, grant.refreshEndsAt].compactMap(\.self) {
                // The clocks may differ by what they can show.
                try require(abs(date.unixSeconds) < 1e12, "the end \(date.unixSeconds) is accepted")
            }
            try require(grant.scopes?.allSatisfy(OAuthScope.isOne) ?? true, "a scope that is none is accepted")
            if let user = grant.user { try check(user) }
        case .failure(let failure):
            if case .final = failure { try require(mayBeFinal, "a refusal ends a session that it is not about") }
            try check(failure.error)
        }
    }

    private static func check(_ user: UserSummary) throws(Violation) {
        for text in [user.id, user.email, user.name].compactMap(\.self) {
            try require(VisibleText.line(text) == text, "the user has hidden characters")
        }
    }

    /// What users see has one line of visible characters.
    private static func check(_ error: AgentError) throws(Violation) {
        for text in [error.message, error.cause, error.providerMessage].compactMap(\.self) + error.details {
            try require(VisibleText.line(text) == text, "hidden characters in '\(text)'")
        }
        if let wait = error.retryAfter { try require((.zero...RetryAfter.longest).contains(wait), "a wait of \(wait)") }
        try require(AgentError(json: error.json).kind == error.kind, "an error is read as another one")
    }
}
