package import AuthModel
package import AuthWire

/// A role at AWS that a session's token is exchanged for, with AssumeRoleWithWebIdentity of the Security Token Service (STS).
package struct WebIdentity: Sendable, Hashable {
    /// `nil`: the default one.
    package let session: SessionName?
    package let scopes: [String]?
    package let audience: String?
    package let role: String
    /// The URL of the service: `https`, or of this machine.
    package let service: String
    /// The name of the role's session, which AWS's logs show (2 to 64 of letters, digits and `_+=,.@-`).
    package let name: String

    private static let version = "2011-06-15"
    /// The limit of AWS for the name of a role's session.
    private static let longestName = 64

    /// - Throws: `validation` if the URL cannot be used.
    package init(
        session: SessionName?, scopes: [String]? = nil, audience: String? = nil, role: String,
        service: String = EndpointClient.usualSTS, name: String
    ) throws(AgentError) {
        let url: ResourceURL
        do throws(AgentError) {
            url = try ResourceURL(service)
        } catch {
            throw AgentError(
                .validation,
                "'\(service.quotable)' is not the URL of a Security Token Service: expected an https URL; http is allowed only "
                    + "for this machine.")
        }
        self.session = session
        self.scopes = scopes
        self.audience = audience
        self.role = role
        self.service = url.text + url.query
        self.name = Self.sessionName(name)
    }

    /// A long name is cut, and marked so that it stays different from others that begin as it does. No name of a program or
    /// session has a `+`, so the result is never the name of another one.
    private static func sessionName(_ name: String) -> String {
        let whole = "authd-" + name
        guard whole.utf8.count > longestName else { return whole }
        // FNV-1a. Both names are the user's own: a collision helps nobody.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        let mark = "+" + String(repeating: "0", count: 16 - digits.count) + digits
        return whole.prefix(longestName - mark.count) + mark
    }

    package func request(with token: Secret) -> HTTPRequest {
        let form = Form.encode([
            FormField("Action", "AssumeRoleWithWebIdentity"), FormField("Version", Self.version),
            FormField("RoleArn", role), FormField("RoleSessionName", name),
            FormField("WebIdentityToken", token.reveal()),
        ])
        var request = HTTPRequest(
            method: "POST", url: service, headers: [HTTPField("Content-Type", Form.mediaType)], body: Secret(form))
        // The token is for this service, and for no other.
        request.followsRedirects = false
        request.limit = EndpointLimits.exchangeTime
        request.largestReply = EndpointLimits.exchangeBytes
        return request
    }

    /// - Throws: the service's refusal, or that its response cannot be understood.
    package static func credentials(_ response: HTTPResponse) throws(FrontProblem) -> AWSCredentials {
        let text = String(decoding: response.body, as: UTF8.self)
        guard response.status == 200 else { throw refusal(text, status: response.status) }
        guard let part = XMLText.content(of: "Credentials", in: text),
            let keyID = value("AccessKeyId", part), let secretKey = value("SecretAccessKey", part),
            let sessionToken = value("SessionToken", part), let expiration = value("Expiration", part),
            let end = TimestampParser.parse(expiration)
        else {
            throw FrontProblem(502, .badReply, "The response of the Security Token Service has no credentials.")
        }
        return AWSCredentials(
            keyID: keyID, secretKey: Secret(secretKey), sessionToken: Secret(sessionToken), expiration: expiration,
            end: end)
    }

    private static func value(_ name: String, _ part: Substring) -> String? {
        XMLText.content(of: name, in: part).map { XMLText.unescaped($0).withoutSpaceAround }
            .flatMap { text in !text.isEmpty && text.utf8.allSatisfy(\.isVisible) ? text : nil }
    }

    /// 4xx is final, but for a busy service. The message is the service's, and names the role and not the token.
    private static func refusal(_ text: String, status: Int) -> FrontProblem {
        let code = shown("Code", text)
        let message = shown("Message", text)
        let isBusy = status == 429 || code == "Throttling"
        let isFinal = (400..<500).contains(status) && !isBusy
        let words = [code, message].compactMap(\.self).joined(separator: ": ")
        var problem = FrontProblem(
            isFinal ? 403 : isBusy ? 503 : 502, isFinal ? .refused : isBusy ? .rateLimited : .providerError,
            "The Security Token Service answered with status \(status)" + (words.isEmpty ? "." : ": \(words)"))
        problem.serviceCode = code
        return problem
    }

    private static func shown(_ name: String, _ text: String) -> String? {
        XMLText.content(of: name, in: text).map { content in
            let text = XMLText.unescaped(content).withoutSpaceAround
            return VisibleText.line(String(text.prefix(EndpointLimits.messageCharacters)))
        }
    }
}
