import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Hosts and the token's place in a profile")
struct TokenPlaceReaderTests {
    @Test("hosts are read, and a request that names none of them is a problem")
    func hosts() throws {
        let lines = #"hosts = { auth = "https://auth.example.org/", files = { production = "https://f.example.org" } }"#
        let text = Bench.text(2, lines).replacing("path = \"/login\"", with: "path = \"/login\"\nhost = \"HOST\"")
        let profile = try ProfileReader.read(text.replacing("HOST", with: "auth"), source: "mine.toml")
        #expect(
            profile.hosts == [
                ProviderHost(name: "auth", addresses: [nil: "https://auth.example.org"]),
                ProviderHost(name: "files", addresses: ["production": "https://f.example.org"]),
            ])
        #expect(profile.signIn[0].request?.host == "auth")
        let found = Bench.problems(text.replacing("HOST", with: "file"))
        #expect(found.map(\.key) == ["sign_in.password.request.host"])
        #expect(found.first?.expected == "files (is that meant?)")
    }

    @Test("the token's place is read, and a weak one has a note")
    func tokenPlace() throws {
        func read(_ line: String) throws -> ProviderProfile {
            try ProfileReader.read(Bench.text(2, line), source: "mine.toml")
        }
        let value = try Template(parsing: "{access_token}")
        #expect(try read("").tokenPlace == .standard)
        #expect(
            try read(#"authorization = "Token {access_token}""#).tokenPlace
                == .header("Authorization", try Template(parsing: "Token {access_token}")))
        #expect(try read(#"authorization = { header = "X-API-Key" }"#).tokenPlace == .header("X-API-Key", value))
        #expect(
            try read(#"authorization = { cookie = "sid", value = "{user.id}.{access_token:base64}" }"#).tokenPlace
                == .cookie("sid", try Template(parsing: "{user.id}.{access_token:base64}")))
        let weak = try read(#"authorization = { query = "key" }"#)
        #expect(weak.tokenPlace == .query("key", value))
        #expect(weak.notes.map(\.description).count == 1 && weak.notes[0].line == 2)
        #expect(
            weak.notes[0].description.hasPrefix(
                "mine.toml:2: authorization.query: the token is a part of every address"))
        #expect(try read(#"authorization = { cookie = "sid" }"#).notes.isEmpty)
    }

    @Test("a token in two places is a problem of each key that adds one")
    func twoPlaces() {
        let lines = Bench.text(2, #"authorization = { query = "key" }"#)
            .replacing(#"X-User-ID = "{user.id}""#, with: #"X-Token = "{access_token:base64}""#)
        let found = Bench.problems(lines + "\nquery = { key = \"x\" }")
        #expect(found.map(\.key) == ["headers.X-Token", "user_request.request.query.key"])
        let other = Bench.problems(Bench.text(2, #"authorization = { header = "x-user-id" }"#))
        #expect(other.map(\.key) == ["headers.X-User-ID"] && other.first?.line == 6)
        let own = Bench.problems(
            Bench.text(2, #"authorization = "T {access_token}""#) + "\nheaders = { AUTHORIZATION = \"x\" }")
        #expect(own.contains { $0.key == "user_request.request.headers.AUTHORIZATION" })
    }
}
