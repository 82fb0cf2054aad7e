extension ProviderProfile {
    /// The header fields of responses that may contain credentials of a session, in lower case: those that set cookies, and
    /// those that the profile reads tokens from.
    package var credentialHeaders: Set<String> {
        let methods = signIn + password.values
        let maps = [reply, renewal.reply] + methods.flatMap { method in [method.reply] + method.next.map(\.reply) }
        let names = maps.compactMap(\.self).flatMap { [$0.accessToken, $0.refreshToken] }.compactMap { place in
            if case .header(let name) = place { name.lowercased() } else { nil }
        }
        return Self.cookieHeaders.union(names)
    }

    /// Set-Cookie2 is historic (RFC 2965).
    package static let cookieHeaders: Set<String> = ["set-cookie", "set-cookie2"]
}
