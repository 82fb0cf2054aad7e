package import AuthModel

/// What proves to servers who their client is: a certificate with its chain, and its private key, both in PEM.
package struct ClientCertificate: Sendable {
    let certificates: String
    let key: Secret
    /// The setting that an error names.
    let setting: String

    package init(certificates: String, key: Secret, setting: String) {
        self.certificates = certificates
        self.key = key
        self.setting = setting
    }
}
