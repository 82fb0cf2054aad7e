import AuthModel
import NIOCore
import NIOSSL

/// Whether a certificate is one for an origin, in addition to what the TLS library checks.
///
/// That library accepts a certificate for the address of the connection, too, if it was asked for a name, and that is the
/// address of the proxy if there is one. Then anybody who answers for the name in DNS could use a certificate for their own
/// address. RFC 9525 §6.1: only identifiers of the kind that was asked for count.
enum PeerName {
    /// Waits for nothing: the handshake has ended.
    /// - Returns: fails if the certificate is not one for this origin. The connection is closed then.
    static func check(_ channel: any Channel, of origin: Origin) -> EventLoopFuture<Void> {
        guard origin.isSecure else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.nioSSL_peerCertificate().flatMapThrowing { [remote = channel.remoteAddress] certificate in
            let names = certificate.map { Array($0._subjectAlternativeNames()) } ?? []
            let addresses = names.filter { $0.nameType == .ipAddress }.map { Array($0.contents) }
            let hosts = names.filter { $0.nameType == .dnsName }.map { String(decoding: $0.contents, as: UTF8.self) }
            let reached = remote?.ipAddress.flatMap { IPAddress($0)?.bytes }
            guard matches(origin.host, hosts: hosts, addresses: addresses, reached: reached) else {
                throw NIOSSLExtraError.failedToValidateHostname
            }
        }.flatMapError { error in
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// - Parameters:
    ///   - hosts: the DNS names of the certificate.
    ///   - addresses: its addresses.
    ///   - reached: the address of the connection, which the library compares.
    static func matches(_ host: String, hosts: [String], addresses: [[UInt8]], reached: [UInt8]?) -> Bool {
        if let address = IPAddress(host) { return addresses.contains(address.bytes) }
        // Otherwise the library has found the name.
        guard let reached, addresses.contains(reached) else { return true }
        return hosts.contains { matches(host, pattern: $0) }
    }

    /// A `*` may be the whole first label (RFC 9525 §6.3).
    private static func matches(_ host: String, pattern: String) -> Bool {
        let host = host.lowercased().split(separator: ".")
        let pattern = pattern.lowercased().split(separator: ".")
        guard host.count == pattern.count, !host.isEmpty else { return false }
        guard pattern[0] == "*" else { return host == pattern }
        return pattern.count > 2 && host.dropFirst() == pattern.dropFirst()
    }
}
