import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Docs/errors.md is true: each answer in it is given by its backend, and what `authc` says and ends with is compared.
@Suite("Docs/errors.md", .serialized)
struct ErrorTableTests {
    struct Row: Sendable {
        let status: Int
        let answer: String
        let kind: String
        let exit: Int32
        let words: String
    }

    /// A call of each backend that the orders are for.
    static let calls: [Backend: [String]] = [
        .awsLambda: ["GET", "/auth/profile"], .envelope: ["GET", "/users/profile"],
        .anonymousWall: ["POST", "/api/v1/auth/email/send-code"], .forkInTheRoad: ["GET", "/api/groups"],
        .appTemplate: ["GET", "/users"],
    ]

    @Test("each response has its kind, exit status and message", arguments: Backend.allCases)
    func table(backend: Backend) async throws {
        let rows = try Self.rows(of: backend)
        #expect(rows.count >= 6)
        let call = try #require(Self.calls[backend])
        try await Scene.play { scene in
            _ = try await scene.login(backend)
            for row in rows {
                await scene.backends.misbehave(backend, Misbehaviour(path: call[1], try Self.behaviour(row)))
                let shown = try await scene.agent.authc(["request"] + call + ["--no-retry"])
                let reported = try await scene.ask(
                    "api.request", ["method": .string(call[0]), "path": .string(call[1]), "retry": false])
                #expect(reported["error"]?["data"]?["kind"]?.stringValue == row.kind, "\(row)")
                #expect(shown.status == row.exit, "\(row) \(shown.status)")
                #expect(shown.err.contains(row.words), "\(row) \(shown.err)")
                scene.backends.clear(backend)
            }
            // Whatever a call was answered, the session is as it was.
            #expect(try await scene.agent.status(backend.rawValue).state == .active)
        }
    }

    private static func behaviour(_ row: Row) throws -> Behaviour {
        var behaviour = Behaviour()
        behaviour.status = row.status
        switch row.answer {
        case "empty": behaviour.body = .string("")
        case "page": behaviour.html = true
        case "half": (behaviour.status, behaviour.cut) = (nil, .midBody)
        default: behaviour.body = try JSONDecoder().decode(JSONValue.self, from: Data(row.answer.utf8))
        }
        return behaviour
    }

    private static func rows(of backend: Backend) throws -> [Row] {
        let page = try SourceTree.text("Docs/errors.md")
        return try page.split(separator: "\n").filter { $0.hasPrefix("| \(backend.rawValue) |") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let halves = cells[1].split(separator: "`", maxSplits: 1)
            let status = try #require(Int(halves[0].trimmingCharacters(in: .whitespaces)))
            return Row(
                status: status, answer: String(halves[1].dropLast()), kind: cells[2],
                exit: try #require(Int32(cells[3])), words: cells[4])
        }
    }
}
