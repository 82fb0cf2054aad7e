import AuthModel
import AuthTokens
import AuthWire
import Testing

@Suite("The certificate of a redirect page")
struct TLSIdentityTests {
    private static let now = WallTime(unixSeconds: 1_800_000_000)

    private func make(for host: String = "127.0.0.1") throws -> TLSIdentity {
        try #require(
            SystemCryptography().makeTLSIdentity(for: host, from: Self.now, until: Self.now + .seconds(60)))
    }

    private func problem(
        _ identity: TLSIdentity, key: Secret? = nil, for host: String = "127.0.0.1", after time: Duration = .zero
    ) -> String? {
        do throws(TLSIdentityError) {
            _ = try SystemCryptography().tlsIdentity(
                certificates: identity.certificates, key: key ?? identity.key, for: host, at: Self.now + time)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("a new certificate is valid for its host and time, and each one is different")
    func made() throws {
        let identity = try make()
        #expect(identity.fingerprint.utf8.count == 95)
        #expect(try make().fingerprint != identity.fingerprint)
        let read = try SystemCryptography().tlsIdentity(
            certificates: identity.certificates, key: identity.key, for: "127.0.0.1", at: Self.now)
        #expect(read.fingerprint == identity.fingerprint)
        for host in ["::1", "localhost"] {
            #expect(problem(try make(for: host), for: host) == nil)
            #expect(problem(identity, for: host)?.contains("not for \(host)") == true)
        }
    }

    @Test("an expired or future certificate, another key and invalid data have different errors")
    func wrong() throws {
        let identity = try make()
        #expect(problem(identity, after: .seconds(61)) == "the certificate has expired")
        #expect(problem(identity, after: .seconds(-61))?.contains("not valid yet") == true)
        #expect(problem(identity, key: try make().key) == "the key does not belong to the certificate")
        #expect(problem(identity, key: Secret("none"))?.contains("the key is unreadable") == true)
        let none = TLSIdentity(certificates: "none", key: identity.key, fingerprint: "")
        #expect(problem(none)?.contains("the certificate is unreadable") == true)
    }
}
