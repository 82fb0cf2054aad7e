import Foundation

/// An authority for one test, with a certificate of a server on this machine or at some addresses, and two of a client.
package final class EtcdCertificates: Sendable {
    private let folder: TemporaryFolder

    package var authority: String { folder.path + "/ca.pem" }
    package var clientCertificate: String { folder.path + "/client.pem" }
    package var clientKey: String { folder.path + "/client.key" }
    /// The same with a common name, which etcd does not accept if it has users.
    package var namedCertificate: String { folder.path + "/named.pem" }
    package var namedKey: String { folder.path + "/named.key" }
    package var serverCertificate: String { folder.path + "/server.pem" }
    package var serverKey: String { folder.path + "/server.key" }

    /// - Parameter addresses: of servers, beside this machine's own.
    package init(addresses: [String] = []) async throws {
        folder = try TemporaryFolder()
        try await openssl(["-subj", "/CN=Authority", "-keyout", folder.path + "/ca.key", "-out", authority])
        // etcd's gateway is a client of the same member, with the certificate of the server.
        let names = (["DNS:localhost"] + (["127.0.0.1"] + addresses).map { "IP:" + $0 }).joined(separator: ",")
        let uses = "extendedKeyUsage=serverAuth,clientAuth"
        for (name, subject, more) in [
            ("server", "/CN=server", ["-addext", "subjectAltName=\(names)", "-addext", uses]),
            ("client", "/O=authd", ["-addext", "extendedKeyUsage=clientAuth"]),
            ("named", "/CN=client", ["-addext", "extendedKeyUsage=clientAuth"]),
        ] {
            try await openssl(
                [
                    "-subj", subject, "-CA", authority, "-CAkey", folder.path + "/ca.key", "-keyout",
                    folder.path + "/\(name).key", "-out", folder.path + "/\(name).pem",
                ] + more)
        }
    }

    var serverOptions: [String] {
        [
            "--cert-file", serverCertificate, "--key-file", serverKey, "--client-cert-auth",
            "--trusted-ca-file", authority,
        ]
    }

    var clientOptions: [String] { ["--cacert", authority, "--cert", clientCertificate, "--key", clientKey] }

    private func openssl(_ arguments: [String]) async throws {
        let output = try await Child(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2"]
                + arguments, environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        guard output.status == 0 else { throw Failure(output.err) }
    }
}
