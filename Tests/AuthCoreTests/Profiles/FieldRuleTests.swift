import AuthCore
import Testing

@Suite("Rules for what a person enters")
struct FieldRuleTests {
    @Test("an e-mail address has one @ with something on both sides, and nothing invisible")
    func email() {
        for text in ["ada@example.org", "a+b@x", "ünï@exämple.org"] {
            #expect(FieldRule.email.isMet(by: text), "\(text)")
        }
        let long = String(repeating: "a", count: 65)
        for text in [
            "", "ada", "@x", "ada@", "a@b@c", "a b@c", "a\n@c", "a@.org", "a@org.", "\(long)@x.org", "a\u{A0}@c",
        ] {
            #expect(!FieldRule.email.isMet(by: text), "\(text)")
        }
    }

    @Test("a password's rules are told apart, each in words")
    func password() {
        let rules: [FieldRule] = [.minimumLength(8), .lowercaseLetter, .uppercaseLetter, .digit, .oneOf("@$!%*?&")]
        #expect(rules.allSatisfy { $0.isMet(by: "Secret1!") })
        #expect(
            rules.filter { !$0.isMet(by: "secret") }.map(\.words) == [
                "at least 8 characters", "an upper-case letter", "a digit", "one of @ $ ! % * ? &",
            ])
    }

    @Test("a length counts what a person sees")
    func length() {
        #expect(FieldRule.minimumLength(2).isMet(by: "é👩‍👩‍👧"))
        #expect(!FieldRule.minimumLength(2).isMet(by: "👩‍👩‍👧"))
    }
}
