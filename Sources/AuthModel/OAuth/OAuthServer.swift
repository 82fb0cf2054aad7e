package import AuthWire

/// An authorization server: what the profile says, completed by the server's metadata.
package struct OAuthServer: Sendable, Equatable {
    package var issuer: String?
    /// The issuer of its ID tokens, if it is for several tenants; `nil`: ``issuer``.
    package var tenants: TenantIssuer?
    package var endpoints: OAuthEndpoints
    /// Authorization responses contain the issuer (RFC 9207 §3).
    package var identifiesIssuer = false
    /// Supported challenge methods (RFC 7636); `nil` if unknown.
    package var challengeMethods: [String]?
    /// Supported algorithms for proofs (RFC 9449 §5.1); `nil` if unknown.
    package var proofAlgorithms: [String]?
    /// Authorization requests must be pushed first (RFC 9126 §5).
    package var requiresPushedRequests = false
    /// Supported grants (RFC 8414 §2); `nil` if unknown.
    package var grantTypes: [String]?
    /// Supported ways of client authentication (RFC 8414 §2); `nil` if unknown.
    package var authenticationMethods: [String]?
    /// A client ID may be the address of the client's metadata (Client ID Metadata Document).
    package var acceptsClientDocuments = false

    package init(issuer: String?, endpoints: OAuthEndpoints) {
        self.issuer = issuer
        self.endpoints = endpoints
    }

    /// Reads metadata (RFC 8414 §3.2).
    /// - Parameter mayBeInsecure: whether an endpoint on another machine may use plain `http`.
    /// - Throws: what is wrong with it.
    package init(metadata: JSON, of profile: OAuthProfile, mayBeInsecure: Bool) throws(MetadataError) {
        guard let issuer = metadata["issuer"]?.stringValue else { throw MetadataError(reason: "it has no issuer") }
        // Mix-up attacks begin with metadata of another issuer (RFC 8414 §3.3): the comparison is exact.
        let tenants = TenantIssuer(issuer, of: profile.issuer ?? "")
        guard tenants != nil || issuer.utf8.elementsEqual((profile.issuer ?? "").utf8) else {
            let spelled = ProviderText.clean(issuer) ?? "empty"
            guard Self.withoutSlash(issuer) == Self.withoutSlash(profile.issuer ?? "") else {
                throw MetadataError(reason: "its issuer is \(spelled)")
            }
            throw MetadataError(
                reason:
                    "its issuer is \(spelled), \(issuer.hasSuffix("/") ? "with" : "without") a slash at the end: spell "
                    + "it so in the profile", isSpelling: true)
        }
        var found = OAuthEndpoints()
        for (name, path) in OAuthEndpoints.names {
            guard let text = metadata[name]?.stringValue else { continue }
            guard Self.mayName(text, of: profile.issuer ?? issuer, mayBeInsecure: mayBeInsecure) else {
                throw MetadataError(
                    reason: "its \(name) must be an https address on another machine, like the issuer")
            }
            found[keyPath: path] = text
        }
        self.init(issuer: profile.issuer, endpoints: profile.endpoints.completed(by: found))
        self.tenants = tenants
        identifiesIssuer = metadata["authorization_response_iss_parameter_supported"]?.boolValue ?? false
        challengeMethods = Self.texts(metadata["code_challenge_methods_supported"])
        proofAlgorithms = Self.texts(metadata["dpop_signing_alg_values_supported"])
        requiresPushedRequests = metadata["require_pushed_authorization_requests"]?.boolValue ?? false
        grantTypes = Self.texts(metadata["grant_types_supported"])
        authenticationMethods = Self.texts(metadata["token_endpoint_auth_methods_supported"])
        acceptsClientDocuments = metadata["client_id_metadata_document_supported"]?.boolValue ?? false
    }

    /// Whether metadata is that of an issuer.
    package static func isMetadata(_ json: JSON, of issuer: String) -> Bool {
        guard let named = json["issuer"]?.stringValue else { return false }
        return named.utf8.elementsEqual(issuer.utf8) || TenantIssuer(named, of: issuer) != nil
    }

    private static func texts(_ list: JSON?) -> [String]? { list?.arrayValue?.compactMap(\.stringValue) }

    private static func withoutSlash(_ issuer: String) -> Substring {
        issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...]
    }

    /// The same issuer with a slash at the end, or without it.
    package static func otherSpelling(of issuer: String) -> String {
        issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer + "/"
    }

    /// The addresses of metadata, in the order in which they are tried (OpenID Connect Discovery 1.0 §4, RFC 8414 §3.1). The
    /// third one, for an issuer with a path, is the first one with the path at the end (RFC 8414 §5).
    package static func places(of issuer: String) -> [String] {
        guard let origin = Origin(of: issuer) else { return [] }
        var path = Origin.path(of: issuer)
        while path.last == "/" { path.removeLast() }
        return [
            origin.text + path + "/.well-known/openid-configuration",
            origin.text + "/.well-known/oauth-authorization-server" + path,
        ] + (path.isEmpty ? [] : [origin.text + "/.well-known/openid-configuration" + path])
    }

    /// Whether an issuer may name an endpoint. A remote server must not direct credentials to a port of this machine or to
    /// plain `http`, unless the user has chosen such an issuer.
    package static func mayName(_ endpoint: String, of issuer: String, mayBeInsecure: Bool) -> Bool {
        guard isEndpoint(endpoint, mayBeInsecure: mayBeInsecure), let target = try? BaseURL(bare(endpoint)) else {
            return false
        }
        let isLocalOrPlain = (try? BaseURL(issuer)).map { $0.isLoopback || !$0.isSecure } ?? false
        return isLocalOrPlain || (target.isSecure && !target.mayBeThisMachine)
    }

    private static func bare(_ endpoint: String) -> String { String(endpoint.prefix { $0 != "?" }) }

    /// An endpoint may have a query (RFC 6749 §3.1), but no fragment.
    package static func isEndpoint(_ text: String, mayBeInsecure: Bool) -> Bool {
        let base = bare(text)
        let query = text.dropFirst(base.count)
        guard let base = try? BaseURL(base),
            query.utf8.allSatisfy({ $0.isVisible && $0 != UInt8(ascii: "#") })
        else { return false }
        return base.isSecure || base.isLoopback || mayBeInsecure
    }
}

/// What is wrong with a server's metadata or response.
package struct MetadataError: Error, Sendable, Equatable {
    package let reason: String
    /// An issuer is only spelled in another way.
    package var isSpelling = false
}
