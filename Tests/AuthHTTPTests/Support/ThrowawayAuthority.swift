import FoundationEssentials
import NIOSSL
import Subprocess

/// A certificate authority in a separate folder, made by openssl(1) and gone with the test.
final class ThrowawayAuthority: Sendable {
    private let folder: URL

    var file: String { path("ca.pem") }

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "authd-ca-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try await openssl(
            ["-subj", "/CN=Throwaway authority", "-keyout", path("ca.key"), "-out", file])
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// The TLS side of a server whose certificate is for these names (`subjectAltName` of x509v3_config(5)).
    func server(names: String, protocols: [String] = []) async throws -> NIOSSLContext {
        try await openssl([
            "-subj", "/CN=Throwaway server", "-addext", "subjectAltName=\(names)", "-CA", file, "-CAkey",
            path("ca.key"), "-keyout", path("server.key"), "-out", path("server.pem"),
        ])
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path("server.pem")).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: path("server.key"), format: .pem)))
        tls.applicationProtocols = protocols
        return try NIOSSLContext(configuration: tls)
    }

    /// Another file of the folder.
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: folder.appending(path: name))
        return path(name)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    private struct Failed: Error { let words: String }

    private func openssl(_ arguments: [String]) async throws {
        let key = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        let result = try await Subprocess.run(
            .name("openssl"), arguments: Arguments(key + arguments), output: .discarded, error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else { throw Failed(words: result.standardError) }
    }
}
