import AuthWire
import Foundation
import Testing

/// The tables in "All methods" of Docs/protocol.md are derived: if one differs, paste what the test prints.
@Suite("The tables of the protocol's page")
struct ProtocolPageTests {
    @Test("the page lists every method with its access class, its params and its result")
    func methods() throws {
        let rows = AgentMethods.all.map { method in
            let params = Self.list(method.memberList)
            return "| `\(method.name)` | \(method.access.rawValue) | \(params)| `\(method.resultName)` |"
        }
        try Self.expect(["| method | access | params | result |", "|---|---|---|---|"] + rows)
    }

    @Test("the page lists the members of every result")
    func results() throws {
        var rows: [String] = []
        for method in AgentMethods.all {
            let row = "| `\(method.resultName)` | \(Self.list(Self.result(method)))|"
            if !rows.contains(row) { rows.append(row) }
        }
        try Self.expect(["| result | members |", "|---|---|"] + rows)
    }

    private static func result<Method: AgentMethod>(_: Method.Type) -> [MemberDescription] {
        Method.Result.memberList
    }

    private static func list(_ members: [MemberDescription]) -> String {
        guard !members.isEmpty else { return "" }
        return "`" + members.map { $0.isRequired ? $0.name : $0.name + "?" }.joined(separator: ", ") + "` "
    }

    private static func expect(_ lines: [String]) throws {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        let page = try String(contentsOf: folder.appendingPathComponent("Docs/protocol.md"), encoding: .utf8)
        let table = lines.joined(separator: "\n")
        #expect(page.contains("\n\(table)\n\n") || page.hasSuffix("\n\(table)\n"), "the table is:\n\(table)")
    }
}
