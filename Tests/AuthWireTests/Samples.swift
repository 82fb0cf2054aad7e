import AuthWire

/// One request of every case, with every key set, and the texts that must never be seen.
enum Samples {
    static let secret = "s3cr3t-that-nobody-sees"

    static func requests() throws -> [AgentRequest] {
        let session = try SessionName("work")
        let password = PasswordParams(
            session: session, provider: "shop", environment: "test", fields: ["new_password": secret],
            replaceAccount: true)
        let subscription = SubscribeParams(topics: Topic.allCases, session: session)
        let outbox = OutboxParams(session: session, id: "7")
        return [
            .agentInfo, .agentPing, .agentStats, .agentReload(ReloadParams(check: true)), .agentLock,
            .agentUnlock(UnlockParams(passphrase: secret)),
            .rpcDiscover, .providerList,
            .providerShow(ProviderParams(provider: "shop")),
            .providerCheck(ProviderCheckParams(text: "client_secret = \"\(secret)\"", file: "shop.toml")),
            .providerForget(ProviderParams(provider: "shop")),
            .loginStart(
                LoginStartParams(
                    provider: "shop", session: session, environment: "test", method: "password",
                    fields: ["email": "ada@example.org", "password": secret], remember: true,
                    replaceAccount: true)),
            .loginAnswer(LoginAnswerParams(login: "l1", fields: ["code": secret])),
            .loginWait(LoginParams(login: "l1")), .loginCancel(LoginParams(login: "l1")),
            .loginResend(LoginParams(login: "l1")),
            .loginRedirect(LoginRedirectParams(address: "com.example.app:/callback?code=\(secret)")),
            .sessionList, .sessionStatus(SessionParams(session: session)),
            .sessionUse(SessionUseParams(session: session)),
            .sessionRefresh(SessionParams(session: session)), .sessionValidate(SessionParams(session: session)),
            .sessionLogout(LogoutParams(session: session, revoke: false)),
            .sessionWait(SessionWaitParams(session: session, until: .signedOut, timeout: .milliseconds(1500))),
            .passwordSet(password), .passwordChange(password), .passwordRequestReset(password),
            .passwordReset(password),
            .tokenGet(
                TokenGetParams(
                    session: session, minValid: .seconds(60), scopes: ["a", "b"], audience: "api", purpose: "sync",
                    timeout: .seconds(5), origin: "https://api.example")),
            .tokenReject(TokenRejectParams(session: session, accessToken: secret)),
            .tokenProof(
                TokenProofParams(
                    session: session, method: "GET", url: "https://api.example/a", nonce: "n", accessToken: secret)),
            .userGet(UserGetParams(session: session, fresh: true)),
            .userUpdate(UserUpdateParams(session: session, fields: ["name": "Ada", "pin": .string(secret)])),
            .apiRequest(
                APIRequestParams(
                    session: session, method: "POST", path: "/items", query: ["page": 2, "tag": ["a", "b"]],
                    headers: ["X-Key": secret], body: ["a": .string(secret)], timeout: .seconds(9), cache: .reload,
                    retry: false, waitsForConnectivity: true, queue: true)),
            .apiCall(
                APICallParams(
                    session: session, endpoint: "items.add", args: ["id": 1], body: [.string(secret)],
                    stream: "s", answer: .stream, timeout: .seconds(9), cache: .only, retry: false,
                    waitsForConnectivity: false, queue: true)),
            .apiWrite(StreamWriteParams(stream: "s", offset: 7, bytes: Array(secret.utf8), isLast: true)),
            .apiRead(StreamParams(stream: "s")), .apiClose(StreamParams(stream: "s")),
            .networkStatus, .eventsSubscribe(subscription), .eventsUnsubscribe(subscription),
            .outboxList(outbox), .outboxFlush(outbox), .outboxDrop(outbox),
            .storeRekey(RekeyParams(passphrase: secret, key: Array(secret.utf8))),
            .storeMigrate(MigrateParams(to: .sealedFile, passphrase: secret)),
            .sessionExport(ExportParams(session: session, passphrase: secret)),
            .sessionImport(ImportParams(bytes: [1, 2, 3], passphrase: secret)),
            .sessionTrust(TrustParams(session: session, origins: ["https://api.example"])),
        ]
    }

    static func status() throws -> SessionStatus {
        SessionStatus(
            session: try SessionName("work"), provider: "shop", environment: "test", state: .stale, cause: "offline",
            message: "There is no network.",
            user: UserSummary(id: "7", email: "ada@example.org", name: "Ada", verified: true),
            needsPassword: true, renews: false, remembered: true, expiresAt: 1_763_702_777, refreshAt: 1_763_702_700.25,
            issuedAt: 1_763_700_000,
            signedInAt: 1_763_000_000, lastError: "timed out", unsaved: true, scopes: ["read"], store: .sealedFile,
            isDefault: true)
    }
}
