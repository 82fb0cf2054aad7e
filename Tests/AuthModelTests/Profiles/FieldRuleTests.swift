import AgentTestSupport
import AuthModel
import Testing

@Suite("Rules for entries of the user")
struct FieldRuleTests {
    @Test("an e-mail address has one @ with text on both sides, and nothing invisible")
    func email() {
        for text in ["ada@example.org", "a+b@x", "ünï@exämple.org"] {
            #expect(FieldRule.email.isSatisfied(by: text), "\(text)")
        }
        let long = String(repeating: "a", count: 65)
        for text in [
            "", "ada", "@x", "ada@", "a@b@c", "a b@c", "a\n@c", "a@.org", "a@org.", "\(long)@x.org", "a\u{A0}@c",
        ] {
            #expect(!FieldRule.email.isSatisfied(by: text), "\(text)")
        }
    }

    @Test("each rule for a password has its own description")
    func password() {
        let rules: [FieldRule] = [.minimumLength(8), .lowercaseLetter, .uppercaseLetter, .digit, .oneOf("@$!%*?&")]
        #expect(rules.allSatisfy { $0.isSatisfied(by: "Secret1!") })
        #expect(
            rules.filter { !$0.isSatisfied(by: "secret") }.map(\.requirement) == [
                "at least 8 characters", "an upper-case letter", "a digit", "one of @ $ ! % * ? &",
            ])
    }

    @Test("a code has that many digits and nothing else, including leading zeros")
    func digits() {
        #expect(FieldRule.digits(count: 6).isSatisfied(by: "012345"))
        for text in ["12345", "0123456", "12 345", "12345a", "１２３４５６", ""] {
            #expect(!FieldRule.digits(count: 6).isSatisfied(by: text), "\(text)")
        }
    }

    @Test("an ID token has a subject, and one of the issuers that the profile names")
    func idToken() {
        let token = Sample.jwt(#"{"sub":"g-7","iss":"https://accounts.google.com"}"#)
        #expect(FieldRule.idToken(issuers: []).isSatisfied(by: token))
        #expect(
            FieldRule.idToken(issuers: ["accounts.google.com", "https://accounts.google.com"]).isSatisfied(by: token))
        #expect(!FieldRule.idToken(issuers: ["https://login.example"]).isSatisfied(by: token))
        for text in ["opaque", Sample.jwt(#"{"iss":"x"}"#), Sample.jwt(#"{"sub":""}"#), Sample.jwt(#"{"sub":7}"#)] {
            #expect(!FieldRule.idToken(issuers: []).isSatisfied(by: text), "\(text)")
        }
    }

    @Test("a length counts the characters that the user sees")
    func length() {
        #expect(FieldRule.minimumLength(2).isSatisfied(by: "é👩‍👩‍👧"))
        #expect(!FieldRule.minimumLength(2).isSatisfied(by: "👩‍👩‍👧"))
    }
}
