/// By what the page that a browser comes back to is known, where it is reached by TLS.
package struct TLSIdentity: Sendable {
    /// PEM (RFC 7468 §5), that of the page first.
    package var certificates: String
    /// PEM (RFC 7468 §10).
    package var key: Secret
    /// Of the page's certificate, as browsers show it: SHA-256, in pairs of digits.
    package var fingerprint: String

    package init(certificates: String, key: Secret, fingerprint: String) {
        self.certificates = certificates
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// Files of the person's own, as `mkcert` writes them.
package struct TLSIdentityFiles: Sendable, Equatable {
    /// Absolute paths.
    package var certificate: String
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// What is wrong with a person's own certificate and key, in words, without anything of the key.
package struct TLSIdentityError: Error, Sendable, Equatable {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }
}
