import AuthWire
import Glibc
import NIOCore
import NIOSSL

/// Whom a server's certificate may come from: the system's store, and the files a person adds to it.
struct TrustRoots: Sendable {
    private let added: [NIOSSLCertificate]
    /// What could not be used though the environment asked for it, for the log.
    let notices: [String]

    /// Files are read here, once; the system's store anew with each pool of connections.
    ///
    /// - Throws: when the *setting* cannot be read or holds no certificate. `SSL_CERT_FILE`, often left behind by a
    ///   package long gone, only makes a notice.
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
                notices.append("SSL_CERT_FILE is left out: \(error.reason)")
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
        // Asked first, because the library does not say why it could not read.
        guard unsafe access(file, R_OK) == 0 else {
            throw Unreadable(reason: "\(file) cannot be read: \(SystemError.text(errno))")
        }
        do {
            let found = try NIOSSLCertificate.fromPEMFile(file)
            guard found.isEmpty else { return found }
        } catch {
            // Said below, as for an empty file.
        }
        throw Unreadable(reason: "\(file) holds no certificate in PEM form that can be read")
    }
}
