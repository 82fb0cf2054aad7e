package import AuthWire

/// The issuer of an authority for several tenants of Microsoft Entra ID. Its metadata has a placeholder instead of a
/// tenant; each ID token names its own.
///
/// As "Access tokens in the Microsoft identity platform" documents it
/// (https://learn.microsoft.com/entra/identity-platform/access-tokens, Validate the issuer).
package struct TenantIssuer: Sendable, Equatable {
    private static let placeholder = "/{tenantid}/"
    /// Any other authority is one tenant, and its metadata names it.
    private static let authorities = ["common", "organizations"]

    private let beforeTenant: String
    private let afterTenant: String

    /// - Parameters:
    ///   - named: the issuer in the metadata.
    ///   - issuer: the profile's.
    /// - Returns: `nil` unless they differ in the placeholder alone.
    package init?(_ named: String, of issuer: String) {
        guard let place = named.firstRange(of: Self.placeholder) else { return nil }
        beforeTenant = String(named[..<place.lowerBound]) + "/"
        afterTenant = "/" + String(named[place.upperBound...])
        let known = Self.authorities.map { self.issuer(of: $0) }
        guard !afterTenant.contains("{"), known.contains(where: { $0.utf8.elementsEqual(issuer.utf8) }) else {
            return nil
        }
    }

    private func issuer(of tenant: String) -> String { beforeTenant + tenant + afterTenant }

    /// The issuer of the tenant that these claims are from; `nil` if they name none.
    package func issuer(of claims: JSON) -> String? {
        claims["tid"]?.stringValue.flatMap { Self.isTenant($0) ? issuer(of: $0) : nil }
    }

    /// Whether this is the issuer of some tenant.
    package func includes(_ issuer: String) -> Bool {
        guard issuer.hasPrefix(beforeTenant), issuer.hasSuffix(afterTenant) else { return false }
        return Self.isTenant(String(issuer.dropFirst(beforeTenant.count).dropLast(afterTenant.count)))
    }

    /// Whether a key may sign for the tenant of these claims: some keys are for one tenant only.
    func allows(_ key: JSON, for claims: JSON) -> Bool {
        guard let named = key["issuer"]?.stringValue else { return true }
        guard let own = issuer(of: claims) else { return false }
        let template = String(beforeTenant.dropLast()) + Self.placeholder + String(afterTenant.dropFirst())
        return [own, template].contains { $0.utf8.elementsEqual(named.utf8) }
    }

    /// A UUID, as a tenant's ID is.
    private static func isTenant(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } }
    }
}
