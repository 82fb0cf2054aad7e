import AuthWire
import Testing

struct SessionNameTests {
    @Test(
        "a name of the rule is taken",
        arguments: ["a", "0", "app-template", "a.b_c-d", "9..", String(repeating: "z", count: 64)])
    func accepts(text: String) throws {
        #expect(try SessionName(text).text == text)
        #expect(try SessionName(text).description == text)
    }

    @Test(
        "any other is refused in one short line",
        arguments: [
            "", ".", "-a", "_a", ".a", "A", "aB", "a b", "a/b", "a:b", "é", "aé", "a\0", "a\n", "a\u{301}", "ａ",
            "a\u{1B}[31m", String(repeating: "z", count: 65),
        ])
    func refuses(text: String) {
        let error = #expect(throws: AgentError.self) { try SessionName(text) }
        #expect(error?.kind == .validation)
        #expect(error?.message.utf8.allSatisfy { $0 >= 0x20 } == true)
        #expect((error?.message.count ?? 0) < 250)
    }

    @Test("names are ordered by their bytes")
    func orders() throws {
        #expect(try SessionName("a") < SessionName("b"))
        #expect(try SessionName("a-") < SessionName("a."))
    }
}
