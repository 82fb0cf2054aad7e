import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("A key as a sign-in, in a profile")
struct KeySignInReaderTests {
    private static let head = """
        name = "library"
        [environments]
        local = "http://localhost:1"
        [renewal]
        kind = "none"

        """
    private static let check = "check = { method = \"GET\", path = \"/me\" }\n"

    private func read(_ text: String) -> Result<ProviderProfile, ProfileProblems> {
        ReadingResult.profile(Self.head + text, source: "library.toml")
    }

    private func problems(_ text: String) -> [String] {
        guard case .failure(let failure) = read(text) else { return [] }
        return failure.problems.map { "\($0.line) \($0.key): \($0.expected)" }
    }

    @Test("a key needs no reply and no request, and is read without echo")
    func read() throws {
        let profile = try read(
            "[sign_in.token]\nkind = \"key\"\nfields = [{ name = \"key\", kind = \"key\" }]\ntoken = \"{key}\"\n"
                + Self.check
        ).get()
        let method = try profile.method(named: "token")
        #expect(method.request == nil && method.key?.token.text == "{key}")
        #expect(method.fields[0].secret && method.info.kind == SignInMethodInfo.key)
        // What nobody else says: a check sends the token.
        #expect(method.key?.check?.bearer == true)
        #expect(profile.repeatedMethod == nil)
    }

    @Test("the profile's own request is the check if the key has none, the one for the user first")
    func fallback() throws {
        let key = "[sign_in.token]\nkind = \"key\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"\n"
        let validation = "[validation]\nmethod = \"GET\"\npath = \"/valid\"\nbearer = true\n"
        let user = "[user_request.request]\nmethod = \"GET\"\npath = \"/{PLACE}\"\nbearer = true\n"
        let method = try read(key + validation).get().method(named: "token")
        #expect(try read(key + validation).get().check(of: #require(method.key))?.path.text == "/valid")
        let both = try read(key + validation + user.replacing("{PLACE}", with: "me")).get()
        #expect(try both.check(of: #require(method.key))?.path.text == "/me")
        let renewed = "[reply]\nuser = \"/user\"\n[user]\nid = \"/id\"\n"
        let needsUser = try read(key + validation + user.replacing("{PLACE}", with: "{user.id}") + renewed).get()
        #expect(try needsUser.check(of: #require(method.key))?.path.text == "/valid")
    }

    @Test(
        "each mistake is reported with its line, its key and what was expected",
        arguments: [
            ("kind = \"keys\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"", "7 sign_in.token.kind: one of key"),
            ("kind = \"key\"\nfields = [{ name = \"key\" }]", "6 sign_in.token.token: the access token"),
            ("kind = \"key\"\nfields = []\ntoken = \"abc\"", "9 sign_in.token.token: a text with a field"),
            ("kind = \"key\"\nfields = []\ntoken = \"{kye}\"", "9 sign_in.token.token: a placeholder of {environment}"),
            (
                "kind = \"key\"\nfields = [{ name = \"key\" }, { name = \"x\" }]\ntoken = \"{key}\"",
                "8 sign_in.token.fields[1].name: a field that the request sends"
            ),
            (
                "kind = \"key\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"\n"
                    + "request = { method = \"GET\", path = \"/\" }",
                "10 sign_in.token.request: nothing"
            ),
            (
                "kind = \"key\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"\n"
                    + "check = { method = \"GET\", path = \"/{id}\" }",
                "10 sign_in.token.check.path: a placeholder of {key}, {environment}, {access_token}"
            ),
            (
                "kind = \"key\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"",
                "sign_in.token.check: a request that checks the key"
            ),
        ])
    func mistakes(text: String, expected: String) {
        let found = problems("[sign_in.token]\n" + text)
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test("nothing but a sign-in can be a key, and a renewal cannot repeat one")
    func elsewhere() {
        let key = "[sign_in.token]\nkind = \"key\"\nfields = [{ name = \"key\" }]\ntoken = \"{key}\"\n" + Self.check
        let password = "[password.change]\nkind = \"key\"\nfields = []\nrequest = { method = \"PUT\", path = \"/p\" }\n"
        #expect(problems(key + password).contains { $0.contains("password.change.kind") })
        let repeated = Self.head.replacing("none", with: "sign-in") + key
        guard case .failure(let failure) = ReadingResult.profile(repeated, source: "library.toml") else {
            Issue.record("a renewal repeats a key")
            return
        }
        #expect(failure.problems.contains { $0.expected.contains("a key has none") })
    }
}
