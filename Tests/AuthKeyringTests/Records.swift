import AuthModel
import AuthWire

/// A record with every member set, so that a lost one is noticed.
func record(
    _ session: String = "work", provider: String = "app-template", token: String = "access-1", revision: UInt64 = 1
) throws -> SessionRecord {
    SessionRecord(
        session: try SessionName(session), provider: provider, environment: "production", method: "password",
        tokens: TokenSet(
            accessToken: Secret(token), tokenType: "bearer", refreshToken: Secret("refresh-\(token)"),
            issuedAt: WallTime(unixSeconds: 1_800_000_000.25), expiresAt: WallTime(unixSeconds: 1_800_003_600)),
        user: UserSummary(id: "7", email: "ada@example.org", name: "Ada", verified: true),
        rawUser: ["id": 7, "tags": ["a", nil], "size": 1.5],
        userReceivedAt: WallTime(unixSeconds: 1_800_000_100.5), needsPassword: true,
        signedInAt: WallTime(unixSeconds: 1_799_999_999), remembered: ["password": Secret("p\u{e4}ss \"word\"\n")],
        revision: revision, defaultSince: WallTime(unixSeconds: 1_799_999_998.5))
}

extension [StoredSession] {
    var records: [SessionRecord] {
        compactMap { if case .record(let record) = $0 { record } else { nil } }
    }

    var damaged: [(session: String, reason: String)] {
        compactMap { if case .damaged(let session, let reason) = $0 { (session, reason) } else { nil } }
    }
}

extension AsyncStream<StoreState> {
    /// Reads until the state arrives. `false` if the stream ends before.
    func reaches(_ state: StoreState) async -> Bool {
        for await reported in self where reported == state { return true }
        return false
    }
}
