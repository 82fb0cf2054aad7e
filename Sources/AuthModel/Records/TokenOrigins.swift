package import AuthWire

/// Where the tokens and credentials of a session may be sent: recorded at its sign-in, and changed only if the user agrees.
package struct TokenOrigins: Sendable, Equatable {
    /// What may be sent to an origin.
    package struct Uses: OptionSet, Sendable, Hashable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Answers of a sign-in, and the secrets of an OAuth client.
        package static let credentials = Uses(rawValue: 1)
        package static let refreshToken = Uses(rawValue: 2)
        package static let accessToken = Uses(rawValue: 4)
        package static let all: Uses = [.credentials, .refreshToken, .accessToken]

        /// Their stored names.
        fileprivate static let words: [(String, Uses)] = [
            ("credentials", .credentials), ("refresh_token", .refreshToken), ("access_token", .accessToken),
        ]
    }

    /// The authorization server's issuer, if the profile names one: its endpoints are discovered.
    package let issuer: String?
    package private(set) var uses: [Origin: Uses] = [:]
    /// `false` until the authorization server's endpoints are discovered. The first discovery is trusted.
    package let isComplete: Bool

    package init(issuer: String? = nil, isComplete: Bool = true) {
        self.issuer = issuer
        self.isComplete = isComplete
    }

    /// An invalid URL is ignored: nothing can be sent there.
    package mutating func allow(_ uses: Uses, at url: String?) {
        allow(uses, at: url.flatMap { Origin(of: $0) })
    }

    package mutating func allow(_ uses: Uses, at origin: Origin?) {
        guard let origin else { return }
        self.uses[origin, default: []].formUnion(uses)
    }

    package func allows(_ uses: Uses, at origin: Origin) -> Bool {
        self.uses[origin]?.isSuperset(of: uses) == true
    }

    /// With everything that the other one allows.
    package func union(_ other: TokenOrigins) -> TokenOrigins {
        var union = TokenOrigins(issuer: other.issuer ?? issuer, isComplete: isComplete || other.isComplete)
        union.uses = uses.merging(other.uses) { $0.union($1) }
        return union
    }

    /// The origins and issuer of `named` that are not allowed here.
    /// - Returns: `nil` if everything is allowed.
    package func change(to named: TokenOrigins) -> OriginChange? {
        var new = named.uses.filter { !allows($0.value, at: $0.key) }.map(\.key.text)
        var former = uses.keys.filter { named.uses[$0] == nil }.map(\.text)
        if let issuer, let other = named.issuer, !issuer.utf8.elementsEqual(other.utf8) {
            new.append("issuer \(other)")
            former.append("issuer \(issuer)")
        }
        guard !new.isEmpty else { return nil }
        return OriginChange(former: (former.isEmpty ? uses.keys.map(\.text) : former).sorted(), new: new.sorted())
    }
}

/// A profile names origins other than those recorded at sign-in. As text, for the user.
package struct OriginChange: Sendable, Equatable {
    package let former: [String]
    package let new: [String]

    package init(former: [String], new: [String]) {
        self.former = former
        self.new = new
    }
}

/// The check that every request with a session's tokens or credentials passes.
package struct OriginGuard: Sendable {
    private let session: SessionName
    private let provider: String
    private let origins: TokenOrigins?

    package init(_ record: SessionRecord) {
        session = record.session
        provider = record.provider
        origins = record.origins
    }

    package func allows(_ uses: TokenOrigins.Uses, at url: String) -> Bool {
        do { try check(uses, at: url) } catch { return false }
        return true
    }

    /// - Parameter issuer: the server that owns the endpoint, if it was discovered.
    /// - Throws: `sign_in_required` with the cause `origin_changed`: nothing may be sent there.
    package func check(_ uses: TokenOrigins.Uses, at url: String, issuer: String? = nil) throws(AgentError) {
        // The profile's origins were adopted before anything is sent (`Session.checkOrigins`).
        guard let origins else { return }
        let origin = Origin(of: url)
        if let origin, origins.allows(uses, at: origin) { return }
        if !origins.isComplete, let issuer, issuer == origins.issuer { return }
        throw .originChanged(
            session, provider,
            OriginChange(former: origins.uses.keys.map(\.text).sorted(), new: [origin?.text ?? url.quotable]))
    }
}

extension AgentError {
    package static let originChangedCause = "origin_changed"

    package static func originChanged(
        _ session: SessionName, _ provider: String, _ change: OriginChange
    ) -> AgentError {
        AgentError(
            .signInRequired,
            "The profile \(provider) now names \(change.new.joined(separator: ", ")) for session \(session), which was "
                + "signed in at \(change.former.joined(separator: ", ")). authd sends nothing there until "
                + "you sign in again, or run `authc trust -s \(session)`. authd keeps the session.",
            cause: originChangedCause)
    }

    package var isOriginChange: Bool { cause == Self.originChangedCause && kind == .signInRequired }
}

extension TokenOrigins {
    /// Stored with the session.
    package var json: JSON {
        var places = JSONObject()
        for (origin, allowed) in uses.sorted(by: { $0.key.text < $1.key.text }) {
            places[origin.text] = .array(Uses.words.filter { allowed.contains($0.1) }.map { .string($0.0) })
        }
        var object: JSONObject = ["uses": .object(places)]
        object["issuer"] = issuer.map(JSON.string)
        if !isComplete { object["incomplete"] = true }
        return .object(object)
    }

    /// `nil` if it is invalid. An unknown use is ignored: it allows nothing.
    package init?(stored json: JSON) {
        guard let places = json["uses"]?.objectValue else { return nil }
        self.init(issuer: json["issuer"]?.stringValue, isComplete: json["incomplete"]?.boolValue != true)
        for (url, list) in places {
            guard let origin = Origin(of: url), let names = list.arrayValue else { return nil }
            allow(Uses(Uses.words.filter { names.contains(.string($0.0)) }.map(\.1)), at: origin)
        }
    }
}

extension ProviderProfile {
    /// Where this profile sends tokens and credentials.
    /// - Parameter server: the discovered authorization server; `nil`: only what the profile says.
    /// - Returns: `nil` if there is no such environment.
    package func origins(in environment: String, server: OAuthServer? = nil) -> TokenOrigins? {
        guard let environment = environments.first(where: { $0.name == environment }) else { return nil }
        guard let oauth else {
            var origins = TokenOrigins()
            origins.allow(.all, at: environment.origin)
            allowRequests(in: environment, &origins)
            return origins
        }
        var origins = TokenOrigins(issuer: oauth.issuer, isComplete: server != nil || oauth.issuer == nil)
        origins.allow(.accessToken, at: environment.origin)
        let endpoints = server?.endpoints ?? oauth.endpoints
        for url in [endpoints.token, endpoints.revocation, endpoints.introspection] { origins.allow(.all, at: url) }
        origins.allow(.accessToken, at: endpoints.userInfo)
        allowRequests(in: environment, &origins)
        return origins
    }

    /// Each host gets what the requests that name it contain.
    private func allowRequests(in environment: ProviderEnvironment, _ origins: inout TokenOrigins) {
        for described in requests {
            let request = described.request
            // Names in a sign-in that are not a session's are answers, or come from them.
            func isAnswer(_ name: String) -> Bool { !TemplateValues.Name.all.contains(name) }
            let uses: TokenOrigins.Uses =
                switch described.part {
                case .signIn: request.uses([], isAnswer: isAnswer)
                case .account: request.uses(headers, isAnswer: isAnswer)
                case .session: request.uses(headers) { _ in false }
                case .endpoint(let fallbacks): request.uses(headers, fallbacks: fallbacks) { _ in false }
                }
            guard let address = try? address(of: request.host, in: environment) else { continue }
            origins.allow(uses, at: environment.origin(of: address))
        }
    }
}

extension RequestTemplate {
    /// Which of a session's secrets a request contains.
    /// - Parameters:
    ///   - headers: of the profile.
    ///   - fallbacks: of arguments.
    ///   - isAnswer: whether a placeholder stands for an answer of the user.
    func uses(
        _ headers: [TemplateField], fallbacks: [Template] = [], isAnswer: (String) -> Bool
    ) -> TokenOrigins.Uses {
        let names = placeholders + headers.flatMap(\.value.placeholders) + fallbacks.flatMap(\.placeholders)
        var uses: TokenOrigins.Uses = bearer ? .accessToken : []
        if names.contains(TemplateValues.Name.accessToken) { uses.insert(.accessToken) }
        if names.contains(TemplateValues.Name.refreshToken) { uses.insert(.refreshToken) }
        if names.contains(where: isAnswer) { uses.insert(.credentials) }
        return uses
    }
}
