import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A provider that wants https even on this machine: the real programs, and curl, openssl or a real Chromium.
@Suite("OAuth: back to a page by TLS", .serialized, .timeLimit(.minutes(2)))
struct OAuthSecurePageTests {
    @Test("a certificate for one sign-in: the user is warned, continues in a real Chromium, and is signed in")
    func made() async throws {
        try await OAuthScene.play(profile: "[oauth]\nredirect = \"https://127.0.0.1/callback\"") { scene, server in
            let (login, url) = try await scene.beginInBrowser()
            let reported = try #require(login.err.text.firstMatch(of: /SHA-256 is: ([0-9A-F:]{95})/)?.1)
            let port = try #require(url.firstMatch(of: /redirect_uri=https%3A%2F%2F127.0.0.1%3A(\d+)/)?.1)
            let asked =
                "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null"
                + " | openssl x509 -noout -fingerprint -sha256 -ext subjectAltName,basicConstraints -checkend 600"
            let shown = try await scene.desktop.run(["bash", "-c", asked]).out
            #expect(shown.contains(reported), "\(shown)")
            #expect(shown.contains("IP Address:127.0.0.1") && shown.contains("CA:FALSE"), "\(shown)")
            #expect(shown.contains("will expire"), "\(shown)")
            try await Chromium.running(in: scene.desktop) { browser in
                try await browser.open(url)
                try await browser.type("Jane", into: "#name")
                try await browser.click("#yes")
                // The browser's warning, which a user may accept.
                #expect(try await browser.title() == "Privacy error")
                try await browser.click("#details-button")
                try await browser.click("#proceed-link")
                #expect(try await browser.title() == "Signed in to Test server")
                #expect(try await browser.script("return location.protocol") as? String == "https:")
                #expect(try await browser.fetched() == 0)
            }
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(server.counts.codes == 1)
        }
    }

    @Test("the user's own certificate is used without a warning for browsers that trust it")
    func own() async throws {
        let port = try FreePort.find()
        try await OAuthScene.play { scene, server in
            let files = try await Self.certificate(for: "DNS:localhost,IP:127.0.0.1", in: scene)
            try await scene.addProfile(
                Self.profile(server, "https://localhost:\(port)/signed-in", files.certificate, files.key))
            let (login, url) = try await scene.beginInBrowser()
            #expect(!login.err.text.contains("SHA-256"), "\(login.err.text)")
            #expect(try await !scene.consent(url).contains("Signed in"))
            let page = try await scene.desktop.run([
                "curl", "--silent", "--noproxy", "*", "--cacert", files.authority, "--tlsv1.3",
                try await scene.redirect(of: url),
            ])
            #expect(page.out.contains("Signed in to Test server"), "\(page.out)\(page.err)")
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
        }
    }

    @Test("an invalid certificate is reported before the browser opens")
    func wrong() async throws {
        try await OAuthScene.play { scene, server in
            let files = try await Self.certificate(for: "DNS:example.org", in: scene)
            let other = try await Self.certificate(for: "IP:127.0.0.1", in: scene, named: "other")
            let open = try scene.desktop.folder.write(
                String(contentsOfFile: other.key, encoding: .utf8), to: "open.key")
            chmod(open, 0o644)
            for (certificate, key, words) in [
                (files.certificate, files.key, "not for 127.0.0.1"),
                (other.certificate, files.key, "does not belong to"),
                (other.certificate, open, "chmod 600"), (other.certificate, "/nowhere", "/nowhere"),
                ("/nowhere", other.key, "/nowhere"), (other.key, other.key, "the certificate is unreadable"),
                (other.certificate, other.certificate, "chmod 600"),
            ] {
                try await scene.addProfile(Self.profile(server, "https://127.0.0.1/callback", certificate, key))
                let login = try await scene.authc(["login", OAuthScene.provider, "--method", "browser"])
                #expect(login.status == 65, "\(words): \(login.err)")
                #expect(login.err.contains(words), "\(words): \(login.err)")
                #expect(!login.err.contains("PRIVATE KEY"))
            }
            #expect(server.counts.codes == 0)
        }
    }

    private static func profile(
        _ server: OAuthStandIn, _ redirect: String, _ certificate: String, _ key: String
    ) -> String {
        """
        name = "\(OAuthScene.provider)"
        title = "Test server"
        issuer = "\(server.issuer)"
        client_id = "authd-test"
        scopes = ["openid"]
        [oauth]
        redirect = "\(redirect)"
        redirect_certificate = "\(certificate)"
        redirect_key = "\(key)"
        """
    }

    /// A certificate as mkcert creates it, from the user's own authority.
    private static func certificate(
        for names: String, in scene: Scene, named name: String = "page"
    ) async throws -> (certificate: String, key: String, authority: String) {
        let path = try scene.desktop.folder.folder("tls") + "/" + name
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc"
        let script = """
            set -e
            openssl req -x509 \(curve) -keyout '\(path)-ca.key' -out '\(path)-ca.pem' -subj /CN=authority -days 1
            openssl req -x509 \(curve) -keyout '\(path).key' -out '\(path).pem' -subj /CN=page -days 1 \
              -CA '\(path)-ca.pem' -CAkey '\(path)-ca.key' -addext 'subjectAltName=\(names)' \
              -addext basicConstraints=critical,CA:FALSE
            chmod 600 '\(path).key'
            """
        let made = try await scene.desktop.run(["bash", "-c", script])
        guard made.status == 0 else { throw Failure(made.err) }
        return (path + ".pem", path + ".key", path + "-ca.pem")
    }
}
