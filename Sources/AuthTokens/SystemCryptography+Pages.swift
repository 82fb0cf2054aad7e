package import AuthModel
import Crypto
import FoundationEssentials
import SwiftASN1
import X509

/// Certificates for redirect pages on this machine, using swift-certificates.
extension SystemCryptography {
    package func makeTLSIdentity(for host: String, from start: WallTime, until end: WallTime) -> TLSIdentity? {
        let key = P256.Signing.PrivateKey()
        guard let certificate = try? Self.certificate(for: host, key, from: start.date, until: end.date),
            let pem = try? certificate.serializeAsPEM().pemString
        else { return nil }
        return TLSIdentity(
            certificates: pem, key: Secret(key.pemRepresentation), fingerprint: Self.fingerprint(certificate))
    }

    package func tlsIdentity(
        certificates: String, key: Secret, for host: String, at now: WallTime
    ) throws(TLSIdentityError) -> TLSIdentity {
        guard let document = try? PEMDocument.parseMultiple(pemString: certificates).first,
            let certificate = try? Certificate(pemDocument: document)
        else { throw TLSIdentityError("the certificate is unreadable (it must be PEM)") }
        guard let ownKey = try? Certificate.PrivateKey(pemEncoded: key.reveal()) else {
            throw TLSIdentityError("the key is unreadable (it must be PEM without a passphrase)")
        }
        guard ownKey.publicKey == certificate.publicKey else {
            throw TLSIdentityError("the key does not belong to the certificate")
        }
        guard now.date < certificate.notValidAfter else { throw TLSIdentityError("the certificate has expired") }
        guard certificate.notValidBefore <= now.date else {
            throw TLSIdentityError("the certificate is not valid yet; check this machine's clock")
        }
        let names = (try? certificate.extensions.subjectAlternativeNames).map { Array($0) } ?? []
        guard names.contains(Self.name(host)) else { throw TLSIdentityError("the certificate is not for \(host)") }
        return TLSIdentity(certificates: certificates, key: key, fingerprint: Self.fingerprint(certificate))
    }

    /// Self-signed and not a CA: trusting it means trusting this machine's own page for these minutes.
    private static func certificate(
        for host: String, _ key: P256.Signing.PrivateKey, from start: Date, until end: Date
    ) throws -> Certificate {
        let key = Certificate.PrivateKey(key)
        let name = try DistinguishedName { CommonName("authd, for one sign-in") }
        return try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey, notValidBefore: start,
            notValidAfter: end, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([Self.name(host)])
            }, issuerPrivateKey: key)
    }

    private static func name(_ host: String) -> GeneralName {
        switch host {
        case "127.0.0.1": .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))
        case "::1": .ipAddress(ASN1OctetString(contentBytes: [UInt8](repeating: 0, count: 15) + [1]))
        default: .dnsName(host)
        }
    }

    private static func fingerprint(_ certificate: Certificate) -> String {
        guard let bytes = try? certificate.serializeAsPEM().derBytes else { return "" }
        return SHA256.hash(data: bytes).map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }
}

extension WallTime {
    fileprivate var date: Date { Date(timeIntervalSince1970: unixSeconds) }
}
