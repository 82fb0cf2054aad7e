/// The certificate and key of a redirect page that uses TLS.
package struct TLSIdentity: Sendable {
    /// PEM (RFC 7468 §5), the page's certificate first.
    package var certificates: String
    /// PEM (RFC 7468 §10).
    package var key: Secret
    /// SHA-256 of the page's certificate, in pairs of digits as browsers show it.
    package var fingerprint: String

    package init(certificates: String, key: Secret, fingerprint: String) {
        self.certificates = certificates
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// The user's own files, as `mkcert` writes them.
package struct TLSIdentityFiles: Sendable, Equatable {
    /// Absolute paths.
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// What is wrong with the user's certificate and key. The reason contains nothing of the key.
package struct TLSIdentityError: Error, Sendable, Equatable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
