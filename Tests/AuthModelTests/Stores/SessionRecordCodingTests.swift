import AuthModel
import AuthWire
import Testing

@Suite("A stored session record")
struct SessionRecordCodingTests {
    private func record() throws -> SessionRecord {
        SessionRecord(
            session: try SessionName("work"), provider: "app-template", environment: "production", method: "password",
            tokens: TokenSet(
                accessToken: Secret("tell-nobody"), tokenType: "bearer", refreshToken: Secret("r\u{1F511}\"\\\n"),
                issuedAt: WallTime(unixSeconds: 1_800_000_000.125), expiresAt: WallTime(unixSeconds: 1_800_003_600),
                refreshLife: TokenLife(
                    issuedAt: WallTime(unixSeconds: 1_799_000_000), expiresAt: WallTime(unixSeconds: 1_900_000_000)),
                proofKey: Secret("tell-nobody either"),
                scopes: TokenScopes(granted: ["read", "write"], present: ["read"]), isSuspect: true),
            user: UserSummary(id: "7", email: "ada@example.org", name: nil, verified: false),
            rawUser: ["id": 7, "tags": ["a", nil]], needsPassword: true,
            signedInAt: WallTime(unixSeconds: 1_799_999_999), signIn: SignInID("s1-2"),
            remembered: ["password": Secret("pw")],
            client: try RegisteredClient(
                [
                    "client_id": "c", "client_secret": "tell-nobody at all", "client_secret_expires_at": 1_900_000_000,
                    "registration_client_uri": "https://as.example/c", "registration_access_token": "tell-nobody",
                ], issuer: "https://as.example", mayBeInsecure: false),
            generation: 1 << 59, corrections: 3, revision: 7, defaultSince: WallTime(unixSeconds: 1_799_999_998.5),
            isDefaultImplied: true)
    }

    /// Changes the members of a stored record and reads it.
    private func reading(_ change: (inout JSONObject) -> Void) throws -> Result<SessionRecord, DamagedRecord> {
        var object = try #require(JSON(parsing: record().encoded().revealBytes()).objectValue)
        change(&object)
        let value = Secret(bytes: JSON.object(object).serialized())
        do throws(DamagedRecord) {
            return .success(try SessionRecord(decoding: value))
        } catch {
            return .failure(error)
        }
    }

    @Test("is read as it was written, with all members and with the fewest")
    func roundTrip() throws {
        var full = try record()
        #expect(try SessionRecord(decoding: full.encoded()) == full)
        full.resource = ProtectedResource(url: "https://a.example", identifier: "https://a.example", issuer: "i")
        full.resource?.sharedSession = try SessionName("other")
        #expect(try SessionRecord(decoding: full.encoded()) == full)
        full.resource?.sharedSignIn = SignInID("s3-4")
        #expect(try SessionRecord(decoding: full.encoded()) == full)
        let bare = SessionRecord(
            session: full.session, provider: "p", environment: "e", method: "m",
            tokens: TokenSet(accessToken: Secret(""), issuedAt: WallTime(unixSeconds: 0)), user: nil, rawUser: nil,
            signedInAt: WallTime(unixSeconds: 0))
        #expect(try SessionRecord(decoding: bare.encoded()) == bare)
    }

    @Test("has no memory for a client or resource that it lacks, and is changed and compared as before")
    func rareMembers() throws {
        // 208 bytes more if they were stored in it.
        #expect(MemoryLayout<SessionRecord>.size <= 432)
        let first = try record()
        var second = first
        second.client?.secret = Secret("other")
        #expect(first.client?.secret?.reveal() == "tell-nobody at all")
        #expect(second != first)
        second.client = try record().client
        #expect(second == first)
        second.resource = ProtectedResource(url: "https://a.example", identifier: "https://a.example", issuer: "i")
        #expect(second != first)
    }

    @Test("is readable with unknown members")
    func unknownMembers() throws {
        let read = try reading { $0["from_the_future"] = ["a": 1] }
        #expect(try read.get() == record())
    }

    @Test("of a newer format is refused with both numbers")
    func newerFormat() throws {
        let read = try reading { $0["format"] = 4 }
        guard case .failure(let damage) = read else { return #expect(Bool(false), "it was read") }
        #expect(damage.isNewer && damage.reason.contains("format 4") && damage.reason.contains("up to 3"))
        guard case .failure(let other) = try reading({ $0["format"] = 0 }) else { return #expect(Bool(false)) }
        #expect(!other.isNewer)
    }

    @Test("has a newer format only if an older authd would lose something: a key, a registered client, cookies")
    func leastFormat() throws {
        var plain = try record()
        #expect(try JSON(parsing: plain.encoded().revealBytes())["format"] == 2)
        plain.tokens.proofKey = nil
        #expect(try JSON(parsing: plain.encoded().revealBytes())["format"] == 2)
        plain.client = nil
        #expect(try JSON(parsing: plain.encoded().revealBytes())["format"] == 1)
        plain.tokens.cookies.store(
            HTTPResponse(status: 200, headers: [("Set-Cookie", "a=b")], body: []), from: "https://a.example",
            sentAt: plain.signedInAt)
        #expect(try JSON(parsing: plain.encoded().revealBytes())["format"] == 3)
    }

    @Test("of an authd with one number for both parts is new in both, and identified by its date")
    func oneNumber() throws {
        let read = try reading {
            for name in ["generation", "corrections", "changes", "sign_in"] { $0[name] = nil }
            $0["revision"] = 12
        }.get()
        #expect(read.generation == 12 && read.corrections == 0 && read.revision == 12)
        #expect(read.signIn == SignInID(signedInAt: read.signedInAt))
        // After another write it is the same sign-in.
        #expect(try SessionRecord(decoding: read.encoded()).signIn == read.signIn)
    }

    @Test("that an authd with one number has changed is newer in both parts")
    func writtenByOlder() throws {
        let ours = try record()
        let number = try #require(JSON(parsing: ours.encoded().revealBytes())["revision"]?.integerValue)
        let theirs = try reading {
            for name in ["generation", "corrections", "changes"] { $0[name] = nil }
            $0["revision"] = .integer(number + 1)
        }.get()
        #expect(ours.merged(with: theirs) == theirs && theirs.merged(with: ours) == theirs)
    }

    @Test(
        "with a damaged member is refused with that member's name and without its value",
        arguments: [
            "format", "session", "provider", "environment", "method", "access_token", "token_type", "refresh_token",
            "issued_at", "expires_at", "user", "needs_password", "signed_in_at", "remembered", "revision",
            "generation", "corrections", "changes", "sign_in", "default_since", "proof_key", "client",
        ])
    func damagedMember(name: String) throws {
        let read = try reading { $0[name] = ["tell-nobody"] }
        guard case .failure(let damage) = read else { return #expect(Bool(false), "it was read") }
        #expect(damage.reason.contains("'\(name)'"))
        #expect(!String(reflecting: damage).contains("tell-nobody"))
    }

    @Test(
        "with a date that no clock has is refused",
        arguments: ["issued_at", "expires_at", "signed_in_at", "default_since", "user_received_at"])
    func impossibleDate(name: String) throws {
        for date in [1e13, -1e13, 1e300, -1e300, Double(Int64.max)] {
            guard case .failure(let damage) = try reading({ $0[name] = .number(date) }) else {
                Issue.record("\(name): \(date) was read")
                continue
            }
            #expect(damage.reason.contains("'\(name)'"))
        }
        let cookie: JSON = [
            "name": "a", "value": "b", "domain": "example.org", "path": "/", "expires_at": .number(1e300),
        ]
        guard case .failure = try reading({ $0["cookies"] = [cookie] }) else {
            return #expect(Bool(false), "it was read")
        }
    }

    @Test(
        "with a damaged member of its client or user is refused, and nothing of it is shown",
        arguments: ["issuer", "id", "authentication", "email"])
    func damagedInside(name: String) throws {
        let read = try reading { object in
            let holder = name == "email" ? "user" : "client"
            var inner = object[holder]?.objectValue ?? [:]
            inner[name] = ["tell-nobody"]
            object[holder] = .object(inner)
        }
        guard case .failure(let damage) = read else { return #expect(Bool(false), "it was read") }
        #expect(damage.reason.contains("'\(name)'") && !damage.reason.contains("tell-nobody"))
    }

    @Test(
        "with null for a member is refused: nothing that it says may be lost",
        arguments: ["proof_key", "expires_at", "origins", "refresh_token", "client", "token_is_suspect", "sign_in"])
    func null(name: String) throws {
        let read = try reading { $0[name] = .null }
        guard case .failure(let damage) = read else { return #expect(Bool(false), "it was read") }
        #expect(damage.reason.contains("'\(name)'"))
    }

    @Test(
        "is readable with a damaged optional member of its client, or a word that only a newer authd knows",
        arguments: [
            ("secret", ["x"]), ("secret_ends_at", "soon"), ("place", 7), ("place_token", ["x"]), ("redirect", 7),
            ("scopes", "a"), ("requested_authentication", "from_the_future"), ("binds_tokens", "yes"), ("secret", nil),
        ] as [(String, JSON)])
    func damagedOptional(name: String, value: JSON) throws {
        let read = try reading { object in
            var client = object["client"]?.objectValue ?? [:]
            client[name] = value
            object["client"] = .object(client)
        }.get()
        #expect(read.tokens == (try record().tokens))
        #expect(read.client?.id == "c" && read.client?.request == nil)
        #expect((read.client?.secret == nil) == (name == "secret"))
        #expect((read.client?.place == nil) == name.hasPrefix("place"))
    }

    @Test("without a required member is refused with that member's name")
    func missing() throws {
        let read = try reading { $0["provider"] = nil }
        #expect(read == .failure(DamagedRecord(reason: "'provider' is missing")))
    }

    @Test("that was cut off anywhere is refused, and nothing of it is shown")
    func truncated() throws {
        let bytes = try record().encoded().revealBytes()
        for count in 0..<bytes.count {
            let damage = #expect(throws: DamagedRecord.self) {
                try SessionRecord(decoding: Secret(bytes: bytes.prefix(count)))
            }
            #expect(!String(reflecting: damage).contains("tell"))
        }
    }
}
