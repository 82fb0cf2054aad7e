import AuthWire
import Foundation
import Testing

/// The lists of methods and results are derived: if one differs, paste what the test prints.
@Suite("authd-protocol(7)")
struct ProtocolManPageTests {
    private static let widest = 100

    @Test("lists every method with its summary, access class, params and result")
    func methods() throws {
        let entries = AgentMethods.all.map { method in
            let params = Self.members(method.memberList)
            let parts = [
                "Access: \(method.access.rawValue)", params.map { "params: " + $0 }, "result: " + method.resultName,
            ]
            return Self.entry(method.name, [method.summary, parts.compactMap(\.self).joined(separator: "; ")])
        }
        try Self.expect(entries, after: "METHODS", before: "RESULTS")
    }

    @Test("lists the members of every result")
    func results() throws {
        var entries: [String] = []
        for method in AgentMethods.all {
            let entry = Self.entry(method.resultName, [Self.members(Self.result(method)) ?? "No members"])
            if !entries.contains(entry) { entries.append(entry) }
        }
        try Self.expect(entries, after: "RESULTS", before: "EVENTS")
    }

    @Test("has every kind of error, every access class and every topic once")
    func words() throws {
        let page = try Self.page()
        func tags(_ section: String) -> [String] {
            let text = page.components(separatedBy: "\n.S").first { $0.dropFirst(2).hasPrefix(section + "\n") } ?? ""
            return text.matches(of: /\n\.TP\n\.B ([a-z_]+)(?=\n)/).map { String($0.1) }
        }
        #expect(tags("Kinds") == ErrorKind.allCases.map(\.rawValue))
        #expect(tags("ACCESS CLASSES") == AccessClass.allCases.map(\.rawValue))
        #expect(tags("EVENTS").sorted() == Topic.allCases.map(\.rawValue).sorted())
    }

    private static func result<Method: AgentMethod>(_: Method.Type) -> [MemberDescription] {
        Method.Result.memberList
    }

    private static func members(_ members: [MemberDescription]) -> String? {
        guard !members.isEmpty else { return nil }
        return members.map { $0.isRequired ? $0.name : $0.name + "?" }.joined(separator: ", ")
    }

    private static func entry(_ tag: String, _ lines: [String]) -> String {
        let text = lines.map { wrapped($0.replacing("`", with: "")).replacing("-", with: "\\-") }
        return ".TP\n.B \(tag)\n" + text.joined(separator: "\n.br\n")
    }

    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count > widest {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] += " " + word
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func page() throws -> String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...3 { folder.deleteLastPathComponent() }
        return try String(contentsOf: folder.appendingPathComponent("Docs/man/authd-protocol.7"), encoding: .utf8)
    }

    private static func expect(_ entries: [String], after start: String, before end: String) throws {
        let section = try page().components(separatedBy: "\n.SH ").first { $0.hasPrefix(start + "\n") } ?? ""
        let list = entries.joined(separator: "\n")
        let found = section.range(of: ".TP").map { String(section[$0.lowerBound...]) }
        #expect(found == list, "before .SH \(end) stands:\n\(list)")
    }
}
