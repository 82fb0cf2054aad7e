import AuthWire

/// One request of every case, with every key set, and the texts that must never be seen.
enum Samples {
    static let secret = "s3cr3t-that-nobody-sees"

    static func lend() -> LoginLend {
        var call = LoginLend(host: "build", issuer: "https://id.example", clientID: "authd", scopes: ["a", "b"])
        call.codeChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        (call.state, call.nonce) = ("s-1_", "n")
        call.proofThumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        return call
    }

    static func requests() throws -> [any AgentMethod] {
        let session = try SessionName("work")
        let password = PasswordParams(
            session: session, provider: "shop", environment: "test", fields: ["new_password": secret],
            replaceAccount: true, timeout: .seconds(90))
        let subscription = SubscribeParams(topics: Topic.allCases, session: session)
        let outbox = OutboxParams(session: session, id: "7")
        return [
            AgentInfoGet(), AgentPing(), AgentStatsGet(), AgentReload(check: true), AgentRestart(),
            AgentLock(), AgentUnlock(passphrase: secret, presence: true),
            AgentPassphrase(passphrase: secret, current: secret),
            RPCDiscover(), ProviderListGet(),
            ProviderShow(ProviderParams(provider: "shop")),
            ProviderCheckRun(text: "client_secret = \"\(secret)\"", file: "shop.toml"),
            ProviderTry(text: "name = \"shop\"", file: "shop.toml", url: "https://shop.example"),
            ProviderForget(ProviderParams(provider: "shop")),
            LoginStart(
                provider: "shop", session: session, environment: "test", method: "password", scopes: ["a"],
                fields: ["email": "ada@example.org", "password": secret], remember: true,
                borrowsBrowser: true, replaceAccount: true, share: false, timeout: .seconds(90)),
            LoginAnswer(
                login: "l1", fields: ["code": secret],
                lent: LoginLent(
                    clientID: "authd", scopes: ["a"], redirectURI: "http://127.0.0.1/", query: "code=\(secret)",
                    device: ["device_code": .string(secret)]), timeout: .seconds(90)),
            LoginCheck(login: "l1", fields: ["code": secret]),
            LoginWait(LoginParams(login: "l1")), LoginCancel(LoginParams(login: "l1")),
            LoginResend(LoginParams(login: "l1")),
            LoginRedirect(address: "com.example.app:/callback?code=\(secret)"),
            lend(),
            SessionListGet(), SessionStatusGet(SessionParams(session: session)),
            SessionUse(session: session),
            SessionRefresh(SessionParams(session: session)),
            SessionValidate(session: session, timeout: .seconds(3)),
            SessionLogout(session: session, revoke: false),
            SessionWait(session: session, until: .signedOut, timeout: .milliseconds(1500)),
            PasswordSet(password), PasswordChange(password), PasswordRequestReset(password),
            PasswordReset(password),
            TokenGet(
                session: session, minValid: .seconds(60), scopes: ["a", "b"], audience: "api", purpose: "sync",
                timeout: .seconds(5), origin: "https://api.example"),
            TokenReject(session: session, accessToken: secret),
            TokenProof(
                session: session, method: "GET", url: "https://api.example/a", nonce: "n", accessToken: secret),
            UserGet(session: session, fresh: true),
            UserUpdate(session: session, fields: ["name": "Ada", "pin": .string(secret)]),
            APIRequest(
                session: session, method: "POST", path: "/items", query: ["page": 2, "tag": ["a", "b"]],
                headers: ["X-Key": secret], body: ["a": .string(secret)], timeout: .seconds(9), cache: .reload,
                retry: false, waitsForConnectivity: true, queue: true),
            APICall(
                session: session, endpoint: "items.add", args: ["id": 1], next: "https://a.example/?p=2",
                body: [.string(secret)],
                stream: "s", answer: .stream, timeout: .seconds(9), cache: .only, retry: false,
                waitsForConnectivity: false, queue: true),
            APIWrite(stream: "s", offset: 7, bytes: Array(secret.utf8), isLast: true),
            APIRead(socketFor: "s"), APIClose(StreamParams(stream: "s")),
            NetworkStatusGet(), EventsSubscribe(subscription), EventsUnsubscribe(subscription),
            OutboxListGet(outbox), OutboxFlush(outbox), OutboxDrop(outbox),
            StoreUnlock(passphrase: secret),
            StoreRekey(passphrase: secret, key: Array(secret.utf8), current: secret),
            StoreMigrate(to: .sealedFile, passphrase: secret),
            ClusterStatusGet(), ClusterJoin(), ClusterAdmit(code: secret), ClusterForget(host: "one"),
            SessionExport(session: session, passphrase: secret),
            SessionImport(bytes: [1, 2, 3], passphrase: secret),
            SessionTrust(session: session, origins: ["https://api.example"]),
            AuditListGet(after: 7, limit: 20),
            ConsentListGet(), ConsentAnswerCall(question: 7, allowed: true, minutes: 60),
            PolicyShow(), policyTest(session), PolicyReplay(text: "enforce = true"),
            PolicyApply(accepted: "enforce = true"),
        ]
    }

    private static func policyTest(_ session: SessionName) -> PolicyTest {
        var test = PolicyTest(method: "api.call", session: session, endpoint: "items.add", scopes: ["a"])
        (test.executable, test.unit, test.slice) = ("/usr/bin/curl", "backup.service", "app.slice")
        (test.sandbox, test.label, test.listener) = ("flatpak", "unconfined", "api")
        (test.terminal, test.loginSession) = (true, false)
        (test.audience, test.next) = ("https://api.example", true)
        return test
    }

    static func status() throws -> SessionStatus {
        SessionStatus(
            session: try SessionName("work"), provider: "shop", environment: "test", state: .stale, cause: "offline",
            message: "There is no network.",
            user: UserSummary(id: "7", email: "ada@example.org", name: "Ada", verified: true),
            needsPassword: true, renews: false, remembered: true, expiresAt: 1_763_702_777, refreshAt: 1_763_702_700.25,
            issuedAt: 1_763_700_000, endsAt: 1_764_000_000, isEndFixed: true,
            signedInAt: 1_763_000_000, lastError: "timed out", unsaved: true, scopes: ["read"],
            sharedSession: try SessionName("other"), store: .sealedFile, isDefault: true)
    }
}
