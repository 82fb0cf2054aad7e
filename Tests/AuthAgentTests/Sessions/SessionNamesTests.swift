import AuthWire
import Testing

@testable import AuthAgent

@Suite("Names of sessions in messages")
struct SessionNamesTests {
    private let names = SessionNames(without: { $0.text == "work" })

    private func sessions(_ names: String...) throws -> [SessionName] { try names.map { try SessionName($0) } }

    @Test("leave out sessions that are hidden from the client, and mention that there are some")
    func hidden() throws {
        #expect(
            try names.list(sessions("a", "work", "b")) == "a, b, sessions that an access rule hides from this program")
        #expect(try names.list(sessions("work")) == "sessions that an access rule hides from this program")
        #expect(try names.text(SessionName("work")) == "a session that an access rule hides from this program")
        #expect(names.text(stored: "work") == "a session that an access rule hides from this program")
        #expect(names.text(stored: "") == "a session that an access rule hides from this program")
    }

    @Test("are complete if the client may see the sessions")
    func visible() throws {
        #expect(try names.list(sessions("a", "b")) == "a, b")
        #expect(names.list([]).isEmpty)
        #expect(try names.text(SessionName("a")) == "session a" && names.text(stored: "a") == "session a")
        #expect(try SessionNames.all.list(sessions("work", "a")) == "work, a")
        #expect(SessionNames.all.text(stored: "") == "session ")
    }
}
