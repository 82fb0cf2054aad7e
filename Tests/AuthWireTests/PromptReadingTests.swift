import AuthWire
import Testing

struct PromptReadingTests {
    private func words(_ text: String) -> String? {
        PromptReading(text.utf8Span.span).map { String(decoding: Array(text.utf8)[$0.words], as: UTF8.self) }
    }

    private func isShownWhole(_ text: String) -> Bool? { PromptReading(text.utf8Span.span)?.isShownWhole }

    @Test("the first line of a file is the agent's process and the words of the sessions")
    func reading() {
        #expect(PromptReading("4711 shop\n".utf8Span.span)?.agent == 4711)
        #expect(words("4711 shop wiki!stale\nmore\n") == "shop wiki!stale")
        #expect(words("4711 no end") == "no end")
        for text in ["4711\n", "4711", "4711 \n"] { #expect(words(text) == "", "\(text.debugDescription)") }
    }

    @Test("what an agent writes is read")
    func written() {
        for line in ["", "shop", "shop:ada@example.org wiki!stale"] {
            #expect(words(PromptLine.file(line, agent: 4_194_304)) == line)
        }
    }

    @Test(
        "a file that does not begin with a process is ignored",
        arguments: [
            "", "\n", " ", "shop\n", "0 shop\n", "-1 shop\n", "+1 shop\n", "4711shop\n", "4711\tshop\n",
            "\n4711 shop\n", "99999999999999999999 shop\n",
        ])
    func ignored(text: String) { #expect(PromptReading(text.utf8Span.span) == nil) }

    @Test("up to three sessions are shown as they are, unless one of several has a state, or the line has no end")
    func shownWhole() {
        for line in ["", "shop", "shop!stale", "a b", "a:1 b:2 c:3"] {
            #expect(isShownWhole("4711 \(line)\n") == true, "\(line)")
        }
        for line in ["a b c d", "a b!stale", "a!stale b"] {
            #expect(isShownWhole("4711 \(line)\n") == false, "\(line)")
        }
        #expect(isShownWhole("4711 shop") == false)
    }

    @Test("only a file of the user or of root is read")
    func owner() {
        #expect(PromptReading.isTrusted(owner: 1000, user: 1000) && PromptReading.isTrusted(owner: 0, user: 1000))
        #expect(!PromptReading.isTrusted(owner: 1000, user: 0) && !PromptReading.isTrusted(owner: 1000, user: 1001))
    }
}
