import AuthWire
import Testing

@Suite("Commands in messages")
struct CommandTextTests {
    @Test(
        "a word is quoted if a shell would read it otherwise",
        arguments: [("", "''"), ("/a b", "'/a b'"), ("$x", "'$x'"), ("files:read/https://a.example_1", nil)])
    func quoted(word: String, expected: String?) {
        #expect(ShellWord.quoted(word) == expected ?? word)
    }
}
