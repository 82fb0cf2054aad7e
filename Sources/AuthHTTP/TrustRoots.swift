import AuthFiles
import AuthModel
import AuthWire
import Glibc
import NIOCore
import NIOSSL

/// The trusted certificate authorities: the system's store and the files that the user adds.
struct TrustRoots: Sendable {
    private let added: [NIOSSLCertificate]
    /// The system's store is not trusted.
    private let isOnlyRoot: Bool
    private let identity: (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey)?
    /// Files of the environment that could not be used, for the log.
    let notices: [String]

    /// Reads the files once. The TLS library reads the system's store for each pool of connections, so it is not read
    /// here, even if the environment names it.
    ///
    /// - Parameter isOnlyRoot: nothing but `extraCAFile` is trusted, if there is one.
    /// - Throws: if the *setting* cannot be read or has no certificate. `SSL_CERT_FILE`, often left behind by a removed
    ///   package, only adds a notice.
    init(
        extraCAFile: String?, isOnlyRoot: Bool = false, identity: ClientCertificate? = nil,
        environment: [String: String]
    ) throws(TransportSettingsError) {
        var added: [NIOSSLCertificate] = []
        var notices: [String] = []
        if let file = extraCAFile {
            do {
                added += try Self.certificates(in: file)
            } catch {
                throw TransportSettingsError(setting: "http.ca_file", reason: error.reason)
            }
        }
        let isOnlyRoot = isOnlyRoot && extraCAFile != nil
        if !isOnlyRoot, let file = environment["SSL_CERT_FILE"], !file.isEmpty, !Self.isSystemStore(file) {
            do {
                added += try Self.certificates(in: file)
            } catch {
                notices.append("SSL_CERT_FILE is ignored: \(error.reason)")
            }
        }
        self.added = added
        self.isOnlyRoot = isOnlyRoot
        self.identity = try identity.map { (identity) throws(TransportSettingsError) in try Self.parts(of: identity) }
        self.notices = notices
    }

    /// TLS 1.2 (RFC 9325 §3.1.1) or later, certificate and host name checked.
    func tlsConfiguration(closeNotify: TimeAmount) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = closeNotify
        if isOnlyRoot {
            tls.trustRoots = .certificates(added)
        } else if !added.isEmpty {
            tls.additionalTrustRoots = [.certificates(added)]
        }
        if let identity {
            tls.certificateChain = identity.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(identity.key)
        }
        return tls
    }

    private static func parts(
        of identity: ClientCertificate
    ) throws(TransportSettingsError) -> (chain: [NIOSSLCertificate], key: NIOSSLPrivateKey) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(identity.certificates.utf8)), !chain.isEmpty else {
            throw TransportSettingsError(
                setting: identity.setting, reason: "the client certificate is unreadable (it must be PEM)")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: identity.key.revealBytes(), format: .pem) else {
            throw TransportSettingsError(
                setting: identity.setting,
                reason: "the client's key is unreadable (it must be PEM without a passphrase)")
        }
        return (chain, key)
    }

    /// The TLS library uses the first of these files that exists as the system's store.
    private static let systemStores = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// Whether this file is the system's store, under any name. Its certificates are trusted anyway, and loading them
    /// would take a megabyte of memory.
    static func isSystemStore(_ file: String) -> Bool {
        guard unsafe access(file, R_OK) == 0, let store = systemStores.first(where: { unsafe access($0, F_OK) == 0 })
        else { return false }
        guard let named = FileStatus(at: file), let known = FileStatus(at: store) else { return false }
        return named.isSame(as: known)
    }

    private struct Unreadable: Error { let reason: String }

    private static func certificates(in file: String) throws(Unreadable) -> [NIOSSLCertificate] {
        // Check first, because the library does not report why it cannot read a file.
        guard unsafe access(file, R_OK) == 0 else {
            throw Unreadable(reason: "\(file) cannot be read: \(SystemError.text(errno))")
        }
        do {
            let found = try NIOSSLCertificate.fromPEMFile(file)
            guard found.isEmpty else { return found }
        } catch {
            // Reported below, as for an empty file.
        }
        throw Unreadable(reason: "\(file) has no valid certificate in PEM form")
    }
}
