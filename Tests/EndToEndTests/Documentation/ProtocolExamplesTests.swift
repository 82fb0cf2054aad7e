import AuthWire
import Foundation
import TestSupport
import Testing

/// Docs/protocol.md is true: every example in it is sent to a running agent, and its answer has the shape shown.
@Suite("Docs/protocol.md", .serialized)
struct ProtocolExamplesTests {
    /// Members whose value is compared, not only their kind.
    static let exact: Set<String> = [
        "jsonrpc", "id", "code", "kind", "state", "event", "topic", "session", "provider", "protocol", "default",
    ]

    @Test("every example gets its response, and every method has an example")
    func examples() async throws {
        let document = try SourceTree.text("Docs/protocol.md")
        let lines = Self.examples(in: document)
        #expect(lines.count > 70)
        for method in AgentMethods.all {
            #expect(document.contains("\"method\":\"\(method.name)\""), "\(method.name) has no example")
        }
        try await Scene.play { scene in
            let socket = try RawClient(scene.desktop.folder.path + "/run/authd/socket")
            var login = ""
            for (isRequest, text) in lines {
                if isRequest {
                    try socket.send(text.replacing("$login", with: login) + "\n")
                    continue
                }
                let answer = try socket.json()
                let expected = try JSON(parsing: Array(text.utf8))
                let problems = Self.differences(expected, answer, at: "")
                #expect(problems.isEmpty, "\(text)\n\(answer.text())\n\(problems)")
                if let id = answer["result"]?["login"]?.stringValue { login = id }
            }
        }
    }

    static func examples(in document: String) -> [(isRequest: Bool, text: String)] {
        document.split(separator: "\n").compactMap { line in
            if line.hasPrefix("→ ") { return (true, String(line.dropFirst(2))) }
            if line.hasPrefix("← ") { return (false, String(line.dropFirst(2))) }
            return nil
        }
    }

    /// Where the answer lacks what the example shows, or has another kind of value there.
    static func differences(_ expected: JSON, _ answer: JSON, at place: String) -> [String] {
        switch (expected, answer) {
        case (.object(let one), .object(let other)):
            return one.flatMap { key, value -> [String] in
                guard let there = other[key] else { return ["\(place).\(key) is missing"] }
                // A user's id is no id of ours.
                let isExact = exact.contains(key) && !(key == "id" && place.hasSuffix(".user"))
                if isExact, value != there { return ["\(place).\(key) is \(there.text())"] }
                return differences(value, there, at: "\(place).\(key)")
            }
        case (.array(let one), .array(let other)):
            guard let shape = one.first else { return [] }
            if other.isEmpty { return ["\(place) is empty"] }
            // Each element of a batch counts; the first element of a list is the example for all.
            if place.isEmpty {
                return zip(one, other).flatMap { differences($0, $1, at: "[]") }
                    + (one.count == other.count ? [] : ["\(other.count) answers"])
            }
            return differences(shape, other[0], at: "\(place)[0]")
        case (.string, .string), (.bool, .bool), (.null, .null): return []
        default:
            return expected.doubleValue != nil && answer.doubleValue != nil ? [] : ["\(place) is \(answer.text())"]
        }
    }
}
