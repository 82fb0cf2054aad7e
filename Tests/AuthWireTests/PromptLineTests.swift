import AuthWire
import Testing

struct PromptLineTests {
    private func status(
        _ name: String, _ state: SessionState = .active, _ user: UserSummary? = nil, isDefault: Bool = false
    ) throws -> SessionStatus {
        SessionStatus(session: try SessionName(name), provider: "p", state: state, user: user, isDefault: isDefault)
    }

    @Test("one session is its name and who it is")
    func showsOne() throws {
        let ada = UserSummary(id: "7", email: "ada@example.org", name: "Ada")
        #expect(PromptLine.text(for: [try status("shop", .active, ada)]) == "shop:ada@example.org")
        #expect(PromptLine.text(for: [try status("shop", .stale, ada)]) == "shop:ada@example.org!stale")
        #expect(
            PromptLine.text(for: [try status("shop", .active, UserSummary(id: "7", name: "Ada L"))]) == "shop:Ada_L")
        #expect(PromptLine.text(for: [try status("shop", .active, UserSummary(id: "7"))]) == "shop:7")
        #expect(PromptLine.text(for: [try status("shop", .keyringLocked)]) == "shop!keyring_locked")
    }

    @Test("a locked store whose sessions are not known is a word without a name")
    func showsLockedStore() throws {
        #expect(PromptLine.text(for: [], hidesSessions: true) == "!keyring_locked")
        #expect(PromptLine.text(for: [try status("d", .signedOut)], hidesSessions: true) == "!keyring_locked")
        #expect(PromptLine.text(for: [try status("shop")], hidesSessions: true) == "shop")
    }

    @Test("a missing password is shown unless the session has a worse state")
    func showsMissingPassword() throws {
        var wall = try status("wall")
        wall.needsPassword = true
        #expect(PromptLine.text(for: [wall]) == "wall!needs_password")
        wall.state = .stale
        #expect(PromptLine.text(for: [wall]) == "wall!stale")
    }

    @Test("the file begins with the agent's process")
    func file() {
        #expect(PromptLine.file("shop wiki!stale", agent: 4711) == "4711 shop wiki!stale\n")
        #expect(PromptLine.file("", agent: 4711) == "4711\n")
    }

    @Test("several sessions are words in order, the default first, without signed-out ones")
    func showsSeveral() throws {
        let statuses = [
            try status("b"), try status("d", .signedOut, isDefault: false),
            try status("c", .signInRequired, isDefault: true),
            try status("a", .signingIn),
        ]
        #expect(PromptLine.text(for: statuses) == "c!sign_in_required a!signing_in b")
        #expect(PromptLine.text(for: []) == "")
        #expect(PromptLine.text(for: [try status("d", .signedOut)]) == "")
    }

    @Test(
        "nothing that a shell or a terminal acts on gets through",
        arguments: [
            "a\nb", "a\u{1B}[31mb", "a\u{9B}31mb", "$(reboot)", "`reboot`", "%n", "\\u", "!!", "a b", "a\u{A0}b",
            "a\u{202E}b",
            "a\u{2028}b", "a;b", "a|b", "a&b", "<x>", "a'b", "a\"b", "a*b", "a?b", "~", "#", "\0", "{a,b}", "^", "a:b",
        ])
    func isHarmless(email: String) throws {
        let line = PromptLine.text(for: [try status("shop", .active, UserSummary(email: email))])
        #expect(line.hasPrefix("shop"))
        let who = line.dropFirst("shop".count)
        #expect(
            who.unicodeScalars.dropFirst().allSatisfy {
                $0.properties.isAlphabetic || "0123456789_".unicodeScalars.contains($0)
            })
        #expect(who.isEmpty || who.first == ":")
    }

    @Test("letters of any language stay, and a name has an end")
    func keepsLetters() throws {
        #expect(
            PromptLine.text(for: [try status("s", .active, UserSummary(email: "jürgen+1@exämple.org"))])
                == "s:jürgen+1@exämple.org")
        let long = PromptLine.text(for: [
            try status("s", .active, UserSummary(email: String(repeating: "x", count: 10_000)))
        ])
        #expect(long.count == 2 + 64)
    }
}
