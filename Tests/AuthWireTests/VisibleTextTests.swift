import AuthWire
import Testing

@Suite("Text from elsewhere, as it is shown")
struct VisibleTextTests {
    @Test(
        "shows what a terminal acts on, and what a reader cannot see",
        arguments: [
            ("a\u{1B}[31mb", "a\\u{1b}[31mb"), ("a\nb", "a\\u{a}b"), ("\u{7F}", "\\u{7f}"), ("\u{9B}31m", "\\u{9b}31m"),
            ("na\u{200B}me", "na\\u{200b}me"), ("\u{FEFF}name", "\\u{feff}name"), ("a\u{202E}b", "a\\u{202e}b"),
            ("a\u{2066}b", "a\\u{2066}b"), ("a\u{AD}b", "a\\u{ad}b"), ("a\u{2028}b", "a\\u{2028}b"),
            ("a\u{E0061}\u{E007F}", "a\\u{e0061}\\u{e007f}"), ("a\u{E0000}", "a\\u{e0000}"),
            ("a\u{FE0F}", "a\\u{fe0f}"), ("\u{3164}", "\\u{3164}"), ("\u{034F}", "\\u{34f}"), ("\u{2060}", "\\u{2060}"),
            ("\u{200D}", "\\u{200d}"), ("\u{FFF9}", "\\u{fff9}"), ("\u{061C}", "\\u{61c}"),
        ])
    func hidden(text: String, shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test(
        "leaves letters of all languages, signs and emoji as they are",
        arguments: ["Zoë", "日本語", "عربى", "a b", "😀", "é\u{301}"])
    func plain(text: String) {
        #expect(VisibleText.line(text) == text)
    }

    @Test("a profile problem shows keys, file names and values as visible text")
    func problem() {
        let problem = ProfileProblem(
            file: "a\u{202E}.toml", line: 3, key: "na\u{200B}me", expected: "b\u{1B}", found: "c\u{E0061}")
        #expect(problem.description == "a\\u{202e}.toml:3: na\\u{200b}me: expected b\\u{1b}, found c\\u{e0061}")
    }

    @Test("is what an error repeats of a caller's text, of bounded length")
    func quotable() {
        #expect("a\u{200B}\u{7}".quotable == "a\\u{200b}\\u{7}")
        #expect(String(repeating: "x", count: 65).quotable == String(repeating: "x", count: 64) + "…")
    }
}
