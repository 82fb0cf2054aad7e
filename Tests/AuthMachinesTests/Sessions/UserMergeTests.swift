import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("What answers report of the user, one after the other")
struct UserMergeTests {
    private func record() throws -> SessionRecord {
        var record = MachineBench.record(token: "token-1", life: .seconds(1000))
        record.user = UserSummary(id: "7", email: "ada@example.org", name: "Ada", verified: true)
        record.rawUser = ["id": "7", "email": "ada@example.org", "plan": "free"]
        return record
    }

    @Test("a member that an answer lacks stays as it was")
    func partial() throws {
        var record = try record()
        record.merge(user: UserSummary(id: "7", name: "Ada King"), raw: ["id": "7", "name": "Ada King", "plan": nil])
        #expect(record.user == UserSummary(id: "7", email: "ada@example.org", name: "Ada King", verified: true))
        #expect(record.rawUser == ["id": "7", "email": "ada@example.org", "plan": nil, "name": "Ada King"])
    }

    @Test("another user replaces the known one completely")
    func another() throws {
        var record = try record()
        record.merge(user: UserSummary(id: "8", name: "Eve"), raw: ["id": "8"])
        #expect(record.user == UserSummary(id: "8", name: "Eve"))
        #expect(record.rawUser == ["id": "8"])
    }

    @Test("a new address is not verified because the one before was")
    func address() throws {
        var record = try record()
        record.merge(user: UserSummary(email: "ada@king.example"), raw: nil)
        #expect(record.user == UserSummary(id: "7", email: "ada@king.example", name: "Ada"))
    }

    @Test("new names in each answer do not make the record grow without end")
    func bounded() throws {
        var record = try record()
        for number in 1...1000 {
            record.merge(user: UserSummary(id: "7"), raw: .object(["id": "7", "n\(number)": 1]))
        }
        #expect((record.rawUser?.objectValue?.count ?? 0) <= 256)
    }

    @Test("the machine keeps the e-mail when a validation brings id and name")
    func machine() {
        var bench = MachineBench()
        bench.send(.userReceived(UserSummary(id: "7", name: "Ada"), raw: ["id": "7", "name": "Ada"]))
        #expect(bench.snapshot?.status.user == UserSummary(id: "7", email: "ada@example.org", name: "Ada"))
    }
}
