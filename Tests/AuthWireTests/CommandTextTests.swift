import AuthWire
import Testing

@Suite("Commands in messages")
struct CommandTextTests {
    @Test("the command that signs in has each word as a shell reads it back")
    func login() throws {
        let work = try SessionName("work")
        #expect(CommandText.login("shop", session: work) == "authc login shop -s work")
        #expect(CommandText.login("shop", environment: "a b") == "authc login shop --environment 'a b'")
        #expect(
            CommandText.login("https://mcp.example/mcp?team=a&b", session: work)
                == "authc login 'https://mcp.example/mcp?team=a&b' -s work")
        #expect(
            CommandText.login("shop", session: work, scopes: ["read", "a'b"])
                == #"authc login shop -s work --scope read --scope 'a'\''b'"#)
    }

    @Test("what is not known is left out")
    func unknown() throws {
        #expect(CommandText.login(nil, session: try SessionName("work")) == "authc login -s work")
        #expect(CommandText.login("shop") == "authc login shop")
    }

    @Test(
        "a word is quoted if a shell would read it otherwise",
        arguments: [
            ("", "''"), ("/a b", "'/a b'"), ("$x", "'$x'"), ("files:read/https://a.example_1", nil),
            ("'\u{301}; x", "''\\''\u{301}; x'"),
        ])
    func quoted(word: String, expected: String?) {
        #expect(Array(ShellWord.quoted(word).utf8) == Array((expected ?? word).utf8))
    }
}
