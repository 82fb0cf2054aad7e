extension ProviderProfile {
    /// Every request of the profile, with its keys in the file.
    package var requests: [(keys: [String], request: RequestTemplate)] {
        let methods = signIn.flatMap { $0.requests(["sign_in", $0.name]) }
        let passwords = PasswordAction.allCases.flatMap { action in
            password[action]?.requests(["password", action.rawValue]) ?? []
        }
        let others: [([String], RequestTemplate?)] = [
            (["renewal", "request"], renewal.request), (["validation"], validation),
            (["user_request", "request"], userRequest?.request), (["user_update", "request"], userUpdate?.request),
            (["sign_out"], signOut),
        ]
        return methods + passwords + others.compactMap { keys, request in request.map { (keys, $0) } }
            + endpoints.map { (["endpoints", $0.name], $0.request) }
    }
}

extension SignInMethod {
    fileprivate func requests(_ keys: [String]) -> [(keys: [String], request: RequestTemplate)] {
        var all: [([String], RequestTemplate?)] = before.enumerated().map { (["before[\($0)]"], $1) }
        all += [
            (["challenge", "request"], challenge?.request), (["first", "request"], first?.request),
            (["request"], request), (["check"], key?.check),
        ]
        all += next.enumerated().map { (["next[\($0)]", "request"], $1.request) }
        return all.compactMap { more, request in request.map { (keys + more, $0) } }
    }
}
