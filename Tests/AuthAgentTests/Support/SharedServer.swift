import AuthModel
import AuthTokens
import AuthWire
import Synchronization

/// An authorization server for two machines. It exchanges a code only with the verifier of its challenge.
final class SharedServer: Sendable {
    static let issuer = "http://127.0.0.1:1/o"
    static let device =
        #"{"device_code":"d","user_code":"ABCD-EFGH","verification_uri":"http://127.0.0.1:1/device","expires_in":600}"#

    private struct State {
        /// By code: the fields of its authorization request.
        var codes: [String: [FormField]] = [:]
        var forms: [[FormField]] = []
        var atRequest: @Sendable (String) -> Void = { _ in }
    }

    private let state = Mutex(State())

    /// All requests to the endpoints for tokens and codes.
    var forms: [[FormField]] { state.withLock { $0.forms } }

    var transport: ScriptedTransport {
        ScriptedTransport { [self] request throws(TransportError) in reply(request) }
    }

    static func profile(scopes: [String] = ["read", "write"], client: String = "authd") throws -> ProviderProfile {
        var profile = try ExampleProvider.profile()
        let oauth = OAuthProfile(issuer: issuer, clientID: client, scopes: scopes)
        profile.oauth = oauth
        profile.signIn = oauth.methods
        return profile
    }

    /// Does this before each response. It gets the URL.
    func atRequest(_ act: @escaping @Sendable (String) -> Void) { state.withLock { $0.atRequest = act } }

    /// The user approves.
    /// - Returns: what the browser brings back.
    func approve(_ url: String) -> String {
        let fields = Form.decode(url.split(separator: "?", maxSplits: 1).last.map(String.init) ?? "") ?? []
        let code = state.withLock { state in
            let code = "code-\(state.codes.count + 1)"
            state.codes[code] = fields
            return code
        }
        return "code=\(code)&state=\(fields["state"] ?? "")&iss=" + Form.encode(Self.issuer)
    }

    private func reply(_ request: HTTPRequest) -> HTTPResponse {
        state.withLock { $0.atRequest }(request.url)
        guard request.method == "POST" else {
            let base = "http://127.0.0.1:1"
            return ExampleProvider.json(
                200,
                """
                {"issuer":"\(Self.issuer)","authorization_endpoint":"\(base)/authorize","token_endpoint":"\(base)/token",
                 "device_authorization_endpoint":"\(base)/device_authorization"}
                """)
        }
        let form = request.body.flatMap { Form.decode($0.reveal()) } ?? []
        state.withLock { $0.forms.append(form) }
        if request.url.hasSuffix("/device_authorization") { return ExampleProvider.json(200, Self.device) }
        let token = #"{"access_token":"t","refresh_token":"r","token_type":"Bearer","expires_in":1000}"#
        if form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code" {
            return form["device_code"] == "d"
                ? ExampleProvider.json(200, token) : ExampleProvider.json(400, #"{"error":"invalid_grant"}"#)
        }
        guard let asked = state.withLock({ $0.codes.removeValue(forKey: form["code"] ?? "") }),
            asked["client_id"] == form["client_id"], asked["redirect_uri"] == form["redirect_uri"],
            asked["code_challenge"]
                == AuthorizationAttempt.challenge(form["code_verifier"] ?? "", SystemCryptography())
        else { return ExampleProvider.json(400, #"{"error":"invalid_grant"}"#) }
        return ExampleProvider.json(200, token)
    }
}
