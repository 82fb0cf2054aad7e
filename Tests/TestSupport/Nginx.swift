import Foundation

/// Debian's nginx with a configuration of a test's own.
package struct Nginx: Sendable {
    package let port: Int
    private let folder: TemporaryFolder

    /// The certificate of its `localhost`, to be trusted with `SSL_CERT_FILE`.
    package var certificate: String { folder.path + "/cert.pem" }

    /// - Parameter server: the `server` block without its port: `LISTEN` stands for it, and `FOLDER` for a separate
    ///   folder, with `cert.pem` and `key.pem`.
    package static func running(
        _ server: String, in desktop: Desktop, _ test: @Sendable (Nginx) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let made = try await desktop.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
            folder.path + "/key.pem", "-out", folder.path + "/cert.pem",
        ])
        guard made.status == 0 else { throw Failure(made.err) }
        let port = try FreePort.find()
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path FOLDER/\($0);" }
        let text = """
            daemon off; master_process off; pid FOLDER/pid; error_log FOLDER/error;
            events { worker_connections 256; }
            http {
                \(temporary.joined(separator: " "))
                log_format short '$server_protocol $request_method $uri $status';
                access_log FOLDER/access short;
                \(server.replacing("LISTEN", with: "127.0.0.1:\(port)"))
            }
            """
        let file = try folder.write(text.replacing("FOLDER", with: folder.path), to: "nginx.conf")
        let child = try await Child(
            ["/usr/sbin/nginx", "-e", folder.path + "/error", "-c", file], environment: desktop.environment)
        let nginx = Nginx(port: port, folder: folder)
        let result: Result<Void, any Error>
        do {
            let isUp = try await until {
                let url = "http://127.0.0.1:\(port)/"
                // 7: nobody listens.
                return try await desktop.run(["curl", "--silent", "--noproxy", "*", "--max-time", "5", url]).status != 7
            }
            guard isUp else { throw Failure("nginx: \(await child.err.all())") }
            try await test(nginx)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await child.end(SIGKILL)
        try result.get()
    }

    /// Protocol, method, path and status of each request so far.
    package func requests() throws -> [String] {
        try String(contentsOfFile: folder.path + "/access", encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
