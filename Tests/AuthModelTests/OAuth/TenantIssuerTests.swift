import AuthWire
import Testing

@testable import AuthModel

@Suite("The issuer of an authority for several tenants")
struct TenantIssuerTests {
    private static let pattern = "https://login.example/{tenantid}/v2.0"
    private static let tenant = "2f4a9838-26b7-47ee-be60-ccc1fdec5953"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"

    private func issuer() throws -> TenantIssuer {
        try #require(TenantIssuer(Self.pattern, of: "https://login.example/common/v2.0"))
    }

    @Test(
        "is accepted only if it has the placeholder in place of the authority, and nothing else differs",
        arguments: [
            (pattern, "https://login.example/common/v2.0", true),
            (pattern, "https://login.example/organizations/v2.0", true),
            (pattern, "https://login.example/consumers/v2.0", false),
            (pattern, "https://login.example/\(tenant)/v2.0", false),
            (pattern, "https://other.example/common/v2.0", false), (pattern, "https://login.example/common", false),
            (pattern, "https://login.example/Common/v2.0", false), (pattern, pattern, false),
            ("https://login.example/{tenantId}/v2.0", "https://login.example/common/v2.0", false),
            ("https://login.example/{tenant}/v2.0", "https://login.example/common/v2.0", false),
            ("https://login.example/x{tenantid}/v2.0", "https://login.example/xcommon/v2.0", false),
            ("https://login.example/{tenantid}/{tenantid}/", "https://login.example/common/{tenantid}/", false),
            ("https://login.example/common/v2.0", "https://login.example/common/v2.0", false), ("", "", false),
        ])
    func isAccepted(named: String, issuer: String, isAccepted: Bool) {
        #expect((TenantIssuer(named, of: issuer) != nil) == isAccepted)
        let metadata: JSON = ["issuer": .string(named)]
        #expect(OAuthServer.isMetadata(metadata, of: issuer) == (isAccepted || named == issuer))
    }

    @Test("is that of the token's tenant; a tenant is a UUID")
    func claims() throws {
        let issuer = try issuer()
        #expect(issuer.issuer(of: ["tid": .string(Self.tenant)]) == "https://login.example/\(Self.tenant)/v2.0")
        for tenant in ["", "common", "{tenantid}", "x/../y", Self.tenant + "0", "2f4a983826b747eebe60ccc1fdec5953"] {
            #expect(issuer.issuer(of: ["tid": .string(tenant)]) == nil, "\(tenant)")
            #expect(!issuer.includes("https://login.example/\(tenant)/v2.0"), "\(tenant)")
        }
        #expect(issuer.issuer(of: [:]) == nil && issuer.issuer(of: ["tid": 7]) == nil)
        #expect(issuer.includes("https://login.example/\(Self.tenant)/v2.0"))
        #expect(!issuer.includes("https://other.example/\(Self.tenant)/v2.0"))
    }

    @Test("a key that names an issuer signs for that one, or for all with the placeholder")
    func keys() throws {
        let issuer = try issuer()
        let claims: JSON = ["tid": .string(Self.tenant)]
        for (named, isAllowed) in [
            (Self.pattern, true), ("https://login.example/\(Self.tenant)/v2.0", true),
            ("https://login.example/\(Self.other)/v2.0", false), ("https://other.example/{tenantid}/v2.0", false),
        ] {
            #expect(issuer.allows(["issuer": .string(named)], for: claims) == isAllowed, "\(named)")
        }
        #expect(issuer.allows([:], for: claims))
        #expect(!issuer.allows(["issuer": .string(Self.pattern)], for: [:]))
    }
}
