import Foundation
import TestSupport

/// glewlwyd from Debian's packages: a third-party OpenID provider, configured as an administrator would.
final class Glewlwyd: Sendable {
    static let secret = "s3cret99"
    let port: Int
    private let desktop: Desktop
    private let server: Child
    private let folder: String

    var issuer: String { "http://localhost:\(port)/api/oidc" }
    private var api: String { "http://localhost:\(port)/api" }

    private init(_ desktop: Desktop, port: Int, folder: String, server: Child) {
        self.desktop = desktop
        self.port = port
        self.folder = folder
        self.server = server
    }

    /// Runs one for as long as the test; `redirectURI` is registered for the public client `pub`.
    /// - Parameter resources: what tokens with `scope1` may be for (RFC 8707).
    static func running(
        in desktop: Desktop, redirectURI: String, resources: [String] = [],
        _ test: @Sendable (Glewlwyd) async throws -> Void
    ) async throws {
        let port = try FreePort.find()
        let folder = try desktop.folder.folder("glewlwyd")
        let configuration = try desktop.folder.write(settings(port, folder), to: "glewlwyd/glewlwyd.conf")
        let schema = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
        let made = try await desktop.run(["bash", "-c", "sqlite3 '\(folder)/glewlwyd.db' < \(schema)"])
        guard made.status == 0 else { throw Failure("no database: \(made.err)") }
        let server = try await Child(["glewlwyd", "-c", configuration], environment: desktop.environment)
        let glewlwyd = Glewlwyd(desktop, port: port, folder: folder, server: server)
        let result: Result<Void, any Error>
        do {
            try await glewlwyd.configure(redirectURI, resources)
            try await test(glewlwyd)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.end(SIGKILL)
        try result.get()
    }

    // MARK: The user's steps, without the pages

    /// Signs Alice in and grants the scopes to a client.
    func grant(client: String) async throws {
        try await send("POST", "/auth/", #"{"username":"alice","password":"alicepw12"}"#, by: "alice")
        try await send("PUT", "/auth/grant/\(client)", #"{"scope":"openid scope1"}"#, by: "alice")
    }

    /// Alice's browser goes where a sign-in sends it, and back; its last page.
    func visit(_ url: String) async throws -> String {
        try await curl(["--location", url + "&g_continue"], by: "alice")
    }

    /// Alice gives a code.
    func give(userCode: String) async throws {
        _ = try await curl(["\(api)/oidc/device?code=\(userCode)&g_continue"], by: "alice")
    }

    /// Whether a token is good, as the server's own introspection has it (RFC 7662).
    func isActive(_ token: String) async throws -> Bool {
        let arguments = [
            "--user", "conf:\(Self.secret)", "--data-urlencode", "token=\(token)", "\(api)/oidc/introspect",
        ]
        let answer = try JSONSerialization.jsonObject(with: Data(try await curl(arguments, by: "nobody").utf8))
        return (answer as? [String: Any])?["active"] as? Bool ?? false
    }

    /// How many refresh tokens it has issued: one for each sign-in and each refresh, as every one is used once.
    func refreshTokens() async throws -> Int {
        let query = "select count(*) from gpo_refresh_token"
        let output = try await desktop.run(["sqlite3", "file:\(folder)/glewlwyd.db?mode=ro", query])
        guard let count = Int(output.out.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure(output.out + output.err)
        }
        return count
    }

    // MARK: What the administrator does

    private func configure(_ redirectURI: String, _ resources: [String]) async throws {
        try await send("POST", "/auth/", #"{"username":"admin","password":"password"}"#, by: "admin", tries: 200)
        let key = try await desktop.run([
            "bash", "-c",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out '\(folder)/key' 2>&1 && "
                + "openssl pkey -in '\(folder)/key' -pubout -out '\(folder)/public'",
        ])
        guard key.status == 0 else { throw Failure("no key: \(key.out)\(key.err)") }
        try await send("POST", "/mod/plugin/", try plugin(resources), by: "admin")
        try await send(
            "POST", "/scope/",
            """
            {"name":"scope1","display_name":"s","description":"s","password_required":false,"password_max_age":0,
             "scheme":{}}
            """, by: "admin")
        try await send(
            "POST", "/user/",
            """
            {"username":"alice","password":"alicepw12","name":"Alice","email":"a@example.org",
             "scope":["g_profile","scope1","openid"],"enabled":true}
            """, by: "admin")
        let types = #""authorization_type":["code","refresh_token","device_authorization","client_credentials"]"#
        try await send(
            "POST", "/client/",
            """
            {"client_id":"pub","name":"pub","confidential":false,"redirect_uri":["\(redirectURI)"],\(types),
             "token_endpoint_auth_method":["none"],"scope":[],"enabled":true}
            """, by: "admin")
        try await send(
            "POST", "/client/",
            """
            {"client_id":"conf","name":"conf","confidential":true,"password":"\(Self.secret)",
             "client_secret":"\(Self.secret)","redirect_uri":["\(redirectURI)"],\(types),
             "token_endpoint_auth_method":["client_secret_basic"],"scope":["scope1"],"enabled":true}
            """, by: "admin")
    }

    private func plugin(_ resources: [String]) throws -> String {
        let parameters: [String: Any] = [
            "iss": issuer, "jwt-type": "ecdsa", "jwt-key-size": "256",
            "key": try String(contentsOfFile: folder + "/key", encoding: .utf8),
            "cert": try String(contentsOfFile: folder + "/public", encoding: .utf8), "access-token-duration": 600,
            "refresh-token-duration": 1_209_600, "code-duration": 600, "refresh-token-rolling": true,
            "refresh-token-one-use": "always", "allow-non-oidc": true, "auth-type-code-enabled": true,
            "auth-type-code-revoke-replayed": true, "auth-type-token-enabled": false,
            "auth-type-id-token-enabled": true, "auth-type-none-enabled": false, "auth-type-password-enabled": false,
            "auth-type-client-enabled": true, "auth-type-device-enabled": true, "auth-type-refresh-enabled": true,
            "device-authorization-expiration": 600, "device-authorization-interval": 1, "pkce-allowed": true,
            "pkce-method-plain-allowed": false, "introspection-revocation-allowed": true,
            "introspection-revocation-allow-target-client": true, "introspection-revocation-auth-scope": [String](),
            "subject-type": "public", "jwks-show": true, "scope": [String](), "additional-parameters": [String](),
            "claims": [String](), "restrict-scope-client-property": "", "request-parameter-allow": false,
            "address-claim": ["type": "no"], "name-claim": "on-demand", "email-claim": "on-demand",
            "scope-claim": "no", "session-management-allowed": false, "oauth-dpop-allowed": true,
            "oauth-dpop-iat-duration": 60, "oauth-dpop-nonce-mandatory": true, "oauth-dpop-nonce-counter": 16,
            "register-client-allowed": true, "register-client-auth-scope": [String](),
            "register-client-credentials-scope": [String](), "register-client-management-allowed": true,
            "oauth-par-allowed": true, "oauth-par-duration": 90,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "resource-allowed": !resources.isEmpty, "resource-scope": ["scope1": resources],
            "resource-client-property": "", "resource-scope-and-client-property": false,
        ]
        let body: [String: Any] = [
            "module": "oidc", "name": "oidc", "display_name": "OIDC", "parameters": parameters,
        ]
        return String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    }

    /// - Parameter tries: while the server is starting, connections are refused.
    private func send(_ method: String, _ path: String, _ body: String, by who: String, tries: Int = 1) async throws {
        let arguments = [
            "--request", method, "--header", "Content-Type: application/json", "--data", body, "--fail",
            "--retry", "\(tries - 1)", "--retry-connrefused", "--retry-delay", "1", api + path,
        ]
        _ = try await curl(arguments, by: who)
    }

    private func curl(_ arguments: [String], by who: String) async throws -> String {
        let jar = folder + "/" + who
        let output = try await desktop.run(
            ["curl", "--silent", "--show-error", "--noproxy", "*", "--cookie", jar, "--cookie-jar", jar] + arguments)
        guard output.status == 0 else { throw Failure("\(arguments.last ?? ""): \(output.err)") }
        return output.out
    }

    private static func settings(_ port: Int, _ folder: String) -> String {
        """
        port=\(port)
        bind_address="127.0.0.1"
        external_url="http://localhost:\(port)"
        login_url="login.html"
        api_prefix="api"
        log_mode="file"
        log_level="WARNING"
        log_file="\(folder)/log"
        cookie_domain="localhost"
        cookie_secure=0
        session_expiration=86400
        session_key="GLEWLWYD2_SESSION_ID"
        admin_session_authentication="cookie"
        profile_session_authentication="cookie"
        login_api_enabled=true
        admin_scope="g_admin"
        profile_scope="g_profile"
        user_module_path="/usr/lib/glewlwyd/user"
        client_module_path="/usr/lib/glewlwyd/client"
        user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
        plugin_module_path="/usr/lib/glewlwyd/plugin"
        use_secure_connection=false
        secure_connection_key_file="/etc/glewlwyd/cert.key"
        secure_connection_pem_file="/etc/glewlwyd/cert.pem"
        secure_connection_ca_file="/etc/glewlwyd/ca.crt"
        hash_algorithm="SHA512"
        static_files_path="/usr/share/glewlwyd/webapp"
        static_files_mime_types=({extension=".html";mime_type="text/html"},{extension=".css";mime_type="text/css"},
            {extension=".js";mime_type="application/javascript"},{extension=".json";mime_type="application/json"})
        database = { type="sqlite3"; path="\(folder)/glewlwyd.db"; }

        """
    }
}
