import AuthWire
import Testing

@Suite("Text for terminals")
struct TerminalTextTests {
    @Test(
        "the locale decides about characters beyond ASCII: LC_ALL, then LC_CTYPE, then LANG; an empty one counts as not set"
    )
    func locale() {
        for (environment, isUnicode) in [
            ([:], false), (["LANG": "C"], false), (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8"], true),
            (["LANG": "C.UTF-8", "LC_ALL": "C"], false), (["LANG": "C", "LC_CTYPE": "en_US.UTF-8"], true),
            (["LC_ALL": "", "LC_CTYPE": "", "LANG": "C.UTF-8"], true),
            (["LC_CTYPE": "POSIX", "LANG": "C.UTF-8"], false),
        ] {
            #expect(TerminalText.isUnicode { environment[$0] } == isUnicode, "\(environment)")
        }
    }

    @Test("the characters of our own messages have a form in ASCII, and names of others stay as they are")
    func ascii() {
        let text = "form = { … }, see RFC 9110 §5.6.2, by Zoë"
        #expect(TerminalText.shown(text, isUnicode: true) == text)
        #expect(TerminalText.shown(text, isUnicode: false) == "form = { ... }, see RFC 9110 section 5.6.2, by Zoë")
    }

    @Test("a long line is continued with its indentation; a long word and a command in backticks are not broken")
    func fitted() {
        #expect(TerminalText.fitted("one two three", to: 7) == "one two\nthree")
        #expect(TerminalText.fitted("  one two three", to: 9) == "  one two\n  three")
        #expect(TerminalText.fitted("a /usr/lib/a/long/path b", to: 10) == "a /usr/lib/a/long/path\nb")
        #expect(TerminalText.fitted("type `authc list` now", to: 12) == "type\n`authc list`\nnow")
        // A longer one is broken, and the next one is not.
        #expect(TerminalText.fitted("a `one two three` `b c`", to: 9) == "a `one\ntwo\nthree`\n`b c`")
        #expect(TerminalText.fitted("first line\nsecond", to: 80) == "first line\nsecond")
    }
}
