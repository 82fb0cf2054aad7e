import AuthConcurrency
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Which program, session and result an entry of the audit log has.
@Suite("What the audit log records of a request", .timeLimit(.minutes(1)))
struct AuditRecordTests {
    @Test("the program is known, even if its executable can no longer be read after the first response")
    func hidden() async throws {
        try await TestServer.run { rig in
            let answers = try await SenderTests.responses("hidden", rig.path)
            #expect(answers.count == 2 && answers.allSatisfy { $0["result"] != nil }, "\(answers)")
            let entries = try await onThread { try AuditLogTests.list(rig) }
            let program = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
            #expect(entries.map(\.exe) == [program])
        }
    }

    static func profile(_ name: String) -> ProviderProfile {
        ProviderProfile(
            name: name, title: name, source: "test",
            environments: [ProviderEnvironment(name: "production", baseURL: "https://\(name).example")],
            defaultEnvironment: "production", signIn: [], renewal: Renewal(kind: .none))
    }

    @Test("a token for an origin is recorded with the session that it belongs to, and a refusal with none")
    func origins() async throws {
        let names = ["shop", "work"]
        let catalog = ProfileCatalog(names.map(Self.profile))
        try await TestServer.run(names: names, catalog: catalog) { rig in
            try await onThread {
                let client = try rig.dial()
                for name in names {
                    let answer = try client.ask("token.get", ["origin": .string("https://\(name).example")])
                    #expect(answer["result"]?["session"] == .string(name), "\(answer.text())")
                }
                #expect(try client.ask("token.get", ["origin": "https://other.example"]).errorKind == "denied")
                let entries = try AuditLogTests.list(rig)
                #expect(entries.map { $0.session?.text } == ["shop", "work", nil])
            }
        }
    }

    private static func trail(in log: AuditLog) -> AuditTrail {
        let caller = Caller(
            PeerCredentials(processID: 7, userID: 1000), from: .api, process: nil, confinement: nil,
            changes: AccessChanges())
        return AuditTrail(AuditedRequest(method: "token.get"), by: caller, in: log)
    }

    @Test("a request is recorded as cancelled if its client leaves, not if the agent stops", arguments: [true, false])
    func ended(hasLeft: Bool) async throws {
        let log = AuditLog(clock: BootClock())
        let (begun, departure) = (OneShot<Void>(), Departure())
        let work: RequestTask.BoundedWork = { () async throws(AgentError) in
            begun.send(())
            _ = await OneShot<Void>().value()
            throw .late(after: .seconds(1))
        }
        let task = RequestTask(
            ticket: 1, kind: .once(within: .seconds(60), late: OneShot(), work, Self.trail(in: log)),
            departure: departure)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await task.run { _ in } }
            _ = await begun.value()
            if hasLeft { departure.happen() }
            group.cancelAll()
        }
        let entries = log.list(after: 0, limit: 9).entries
        #expect(entries.map(\.error) == [hasLeft ? .timeout : .busy])
        #expect(entries.map(\.cancelled) == [hasLeft ? true : nil])
    }

    @Test("a request that a lock of the agent has ended is recorded as that, even if its client leaves then")
    func locked() async throws {
        let log = AuditLog(clock: BootClock())
        let (late, departure) = (OneShot<AgentError>(), Departure())
        let work: RequestTask.BoundedWork = { () async throws(AgentError) in
            _ = await OneShot<Void>().value()
            throw .callerGone
        }
        let task = RequestTask(
            ticket: 1, kind: .once(within: .seconds(60), late: late, work, Self.trail(in: log)),
            departure: departure)
        late.send(.agentLocked)
        departure.happen()
        await withTaskGroup(of: Void.self) { group in
            group.cancelAll()
            group.addTask { await task.run { _ in } }
        }
        let entries = log.list(after: 0, limit: 9).entries
        #expect(entries.map(\.error) == [.agentLocked] && entries.map(\.cancelled) == [nil])
    }

    @Test("a request that takes too long is recorded as that at its deadline, whatever its work returns later")
    func late() async throws {
        let log = AuditLog(clock: BootClock())
        let trail = Self.trail(in: log)
        let token = TokenResult(accessToken: "a", tokenType: "Bearer", session: try SessionName("shop"))
        let (late, answered) = (OneShot<AgentError>(), OneShot<Void>())
        late.send(.late(after: .seconds(1)))
        let work: RequestTask.BoundedWork = { () async throws(AgentError) in
            // It ignores its cancellation.
            await withoutCancellation { _ = await answered.value() }
            return .token(token)
        }
        let task = RequestTask(ticket: 1, kind: .once(within: .seconds(1), late: late, work, trail))
        await task.run { result in
            #expect(result == .failure(.late(after: .seconds(1))))
            #expect(log.list(after: 0, limit: 9).entries.map(\.error) == [.timeout])
            answered.send(())
        }
        let entries = log.list(after: 0, limit: 9).entries
        #expect(entries.map(\.error) == [.timeout] && entries.map(\.token) == [nil])
    }

    @Test("a notification is recorded")
    func notification() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(RawClient.request("token.get", ["purpose": "x"], id: nil))
                #expect(try client.ask("agent.ping")["result"] != nil)
                let entries = try AuditLogTests.list(rig)
                #expect(entries.map(\.purpose) == ["x"] && entries.map(\.error) == [nil])
            }
        }
    }

    @Test("after a change of settings or rules a repeated request is a separate entry")
    func generations() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                func ask() throws {
                    #expect(try AuditLogTests.askPlainly(client)["result"] != nil)
                    #expect(try client.ask("token.get", ["purpose": "x"])["result"] != nil)
                }
                for _ in 1...2 { try ask() }
                rig.changes.changed()
                try ask()
                #expect(try AuditLogTests.list(rig).map(\.count) == [2, 2, 1, 1])
            }
        }
    }
}
