/// A step to a value of a profile.
package enum ProfileKey: Sendable, Equatable {
    case name(String)
    /// In a list.
    case element(Int)
}

/// A request of a profile, and where it is described.
package struct ProfileRequest: Sendable {
    package enum Part: Sendable, Equatable {
        /// It has answers of the user, or values that come from them; there is no session yet.
        case signIn
        /// The same, with the token of a session.
        case account
        case session
        /// With the arguments' own templates.
        case endpoint(fallbacks: [Template])
    }

    package let part: Part
    package let keys: [ProfileKey]
    package let request: RequestTemplate

    init(_ part: Part, _ names: [String], _ request: RequestTemplate) {
        self.init(part, names.map(ProfileKey.name), request)
    }

    init(_ part: Part, _ keys: [ProfileKey], _ request: RequestTemplate) {
        self.part = part
        self.keys = keys
        self.request = request
    }
}

extension ProviderProfile {
    /// Every request of the profile.
    package var requests: [ProfileRequest] {
        let others: [([String], RequestTemplate?)] = [
            (["renewal", "request"], renewal.request), (["validation"], validation),
            (["user_request", "request"], userRequest?.request), (["user_update", "request"], userUpdate?.request),
            (["sign_out"], signOut),
        ]
        return signIn.flatMap { $0.requests(.signIn, ["sign_in", $0.name]) }
            + PasswordAction.allCases.flatMap { action in
                password[action]?.requests(action.needsSession ? .account : .signIn, ["password", action.rawValue])
                    ?? []
            }
            + others.compactMap { keys, request in request.map { ProfileRequest(.session, keys, $0) } }
            + endpoints.map { ProfileRequest(.endpoint(fallbacks: $0.fallbacks), ["endpoints", $0.name], $0.request) }
    }
}

extension SignInMethod {
    fileprivate func requests(_ part: ProfileRequest.Part, _ names: [String]) -> [ProfileRequest] {
        let keys = names.map(ProfileKey.name)
        let single: [([String], RequestTemplate?)] = [
            (["challenge", "request"], challenge?.request), (["first", "request"], first?.request),
            (["request"], request),
        ]
        return before.enumerated().map { ProfileRequest(part, keys + [.name("before"), .element($0)], $1) }
            + single.compactMap { more, request in request.map { ProfileRequest(part, names + more, $0) } }
            + next.enumerated().map {
                ProfileRequest(part, keys + [.name("next"), .element($0), .name("request")], $1.request)
            }
            // The key is the token of the session that it makes.
            + (key?.check.map { [ProfileRequest(.session, names + ["check"], $0)] } ?? [])
    }
}
