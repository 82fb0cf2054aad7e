package import AuthWire

/// What a protected resource publishes about itself (RFC 9728 §2).
package struct ResourceMetadata: Sendable, Equatable {
    /// The resource indicator, as it is written there.
    package let identifier: String
    /// Issuers, in the order in which they are tried.
    package let servers: [String]
    /// `nil` if it does not say.
    package let scopes: [String]?

    /// No resource needs more; each costs several requests.
    private static let maxServers = 5
    private static let maxScopes = 256

    /// - Throws: what is wrong with it.
    package init(_ json: JSON, of url: ResourceURL) throws(MetadataError) {
        guard let identifier = json["resource"]?.stringValue else {
            throw MetadataError(reason: "it names no resource")
        }
        guard url.isCovered(by: identifier) else {
            throw MetadataError(
                reason: "it describes the resource \(ProviderText.clean(identifier) ?? "without a name"), not \(url)")
        }
        let servers = (json["authorization_servers"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard !servers.isEmpty else { throw MetadataError(reason: "it names no authorization server") }
        let usable = servers.filter { Self.mayName($0, url) }
        guard !usable.isEmpty else {
            throw MetadataError(
                reason:
                    "its authorization server \(ProviderText.clean(servers[0]) ?? "without a name") is not an https "
                    + "address on another machine, like the resource")
        }
        // An empty list says that bearer tokens are not accepted (RFC 9728 §2).
        if let ways = json["bearer_methods_supported"]?.arrayValue, !ways.contains("header") {
            let named = ways.compactMap { $0.stringValue.flatMap(ProviderText.clean) }
            throw MetadataError(
                reason: "it accepts no access token in the Authorization header: its bearer_methods_supported has "
                    + (named.isEmpty ? "none" : named.prefix(3).joined(separator: ", ")))
        }
        self.identifier = identifier
        self.servers = Array(usable.prefix(Self.maxServers))
        scopes = json["scopes_supported"]?.arrayValue.map { list in
            Array(list.compactMap(\.stringValue).filter(OAuthScope.isOne).prefix(Self.maxScopes))
        }
    }

    /// An issuer has no query (RFC 8414 §2).
    private static func mayName(_ issuer: String, _ url: ResourceURL) -> Bool {
        !issuer.contains("?") && OAuthServer.mayName(issuer, of: url.text, mayBeInsecure: false)
    }
}
