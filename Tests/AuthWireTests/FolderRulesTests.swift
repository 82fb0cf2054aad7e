import AuthWire
import Testing

struct FolderRulesTests {
    private func rules(_ pairs: (String, String)...) throws -> FolderRules {
        FolderRules(try pairs.map { FolderRule(path: $0.0, session: try SessionName($0.1)) })
    }

    @Test("the longest path that holds the folder decides, whatever the order of the rules")
    func longestWins() throws {
        let rules = try rules(
            ("/people/ada", "home"), ("/people/ada/office/secret", "secret"), ("/people/ada/office", "work"))
        #expect(rules.session(in: "/people/ada")?.text == "home")
        #expect(rules.session(in: "/people/ada/play")?.text == "home")
        #expect(rules.session(in: "/people/ada/office")?.text == "work")
        #expect(rules.session(in: "/people/ada/office/shop/src")?.text == "work")
        #expect(rules.session(in: "/people/ada/office/secret/x")?.text == "secret")
        #expect(rules.session(in: "/people") == nil)
        #expect(rules.session(in: "/") == nil)
    }

    @Test("a folder whose name only begins alike is another folder")
    func wholeNames() throws {
        let rules = try rules(("/people/ada/office", "work"))
        #expect(rules.session(in: "/people/ada/officeshop") == nil)
        #expect(rules.session(in: "/people/ada/wor") == nil)
    }

    @Test("the root holds every folder, and of two rules for one path the first counts")
    func rootAndTwins() throws {
        #expect(try rules(("/", "all")).session(in: "/tmp")?.text == "all")
        #expect(try rules(("/", "all")).session(in: "/")?.text == "all")
        #expect(try rules(("/a", "one"), ("/a", "two")).session(in: "/a/b")?.text == "one")
    }

    @Test("the text can be read back, with spaces in paths; other lines are ignored")
    func text() throws {
        let rules = try rules(("/people/ada/my work", "work"), ("/ü", "u"))
        #expect(rules.text == "work /people/ada/my work\nu /ü\n")
        #expect(FolderRules(text: rules.text) == rules)
        #expect(
            FolderRules(text: "\nNo Rule\nwork relative\nnothing\n" + rules.text + "cut /half")
                == FolderRules(
                    rules.rules + [FolderRule(path: "/half", session: try SessionName("cut"))]))
    }
}
