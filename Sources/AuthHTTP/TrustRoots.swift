import AuthWire
import Glibc
import NIOCore
import NIOSSL

/// The trusted certificate authorities: the system's store and the files that the user adds.
struct TrustRoots: Sendable {
    private let added: [NIOSSLCertificate]
    /// Files of the environment that could not be used, for the log.
    let notices: [String]

    /// Reads the files once. The system's store is read again for each pool of connections.
    ///
    /// - Throws: if the *setting* cannot be read or has no certificate. `SSL_CERT_FILE`, often left behind by a removed
    ///   package, only adds a notice.
    init(extraCAFile: String?, environment: [String: String]) throws(TransportSettingsError) {
        var added: [NIOSSLCertificate] = []
        var notices: [String] = []
        if let file = extraCAFile {
            do {
                added += try Self.certificates(in: file)
            } catch {
                throw TransportSettingsError(setting: "http.ca_file", reason: error.reason)
            }
        }
        if let file = environment["SSL_CERT_FILE"], !file.isEmpty {
            do {
                added += try Self.certificates(in: file)
            } catch {
                notices.append("SSL_CERT_FILE is ignored: \(error.reason)")
            }
        }
        self.added = added
        self.notices = notices
    }

    /// TLS 1.2 (RFC 9325 §3.1.1) or later, certificate and host name checked.
    func tlsConfiguration(closeNotify: TimeAmount) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = closeNotify
        if !added.isEmpty { tls.additionalTrustRoots = [.certificates(added)] }
        return tls
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
