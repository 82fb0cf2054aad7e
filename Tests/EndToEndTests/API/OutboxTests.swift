import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Writes that could not be sent, through the real daemon, keyring, disk and `authc`.
@Suite("The outbox", .serialized, .timeLimit(.minutes(2)))
struct OutboxTests {
    static let fork = "fork-in-the-road"

    private static func outbox(_ scene: Scene) async throws -> [OutboxItem] {
        try OutboxList(await scene.agent.json("outbox", "list")).entries
    }

    private static func queue(_ name: String, _ scene: Scene) async throws -> Child.Output {
        try await scene.authc(["call", "create-collection", "-s", fork, "--queue", "name=\(name)"])
    }

    private static func file(_ scene: Scene) -> String {
        scene.desktop.folder.path + "/state/authd/outbox.sqlite"
    }

    @Test("a vote for an unreachable backend survives a kill, is sent in order later, and is shown")
    func later() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            let made = try await scene.authc([
                "call", "create-decision", "title=Where to?", "restaurant_ids:=[\"restaurant-1\"]",
            ])
            let decision = try #require(try JSON(parsing: made.out)["decision"]?["id"]?.stringValue)
            // It is there: the answer is the provider's, and nothing stays behind.
            let now = try await Self.queue("Now", scene)
            #expect(now.status == 0 && now.out.contains("\"Now\""), "\(now.out)\(now.err)")
            #expect(try await Self.outbox(scene).isEmpty)
            // The file is removed after the answer.
            #expect(try await until { !FileManager.default.fileExists(atPath: Self.file(scene)) })

            try await scene.backends.setListening(false, .forkInTheRoad)
            let vote = try await scene.authc([
                "call", "vote", "--queue", "id=\(decision)", "restaurant_id=restaurant-1",
            ])
            #expect(vote.status == 0 && vote.out.isEmpty, "\(vote.out)")
            #expect(vote.err.contains("queued as"), "\(vote.err)")
            let later = try await Self.queue("Later", scene)
            #expect(later.status == 0, "\(later.err)")
            let waiting = try await Self.outbox(scene)
            #expect(waiting.map(\.request) == ["vote", "create-collection"])
            #expect(waiting.first?.error?.kind == .providerUnreachable)
            let shown = try await scene.authc(["outbox"])
            #expect(shown.out.contains("vote  waits since"), "\(shown.out)")
            #expect(shown.out.contains("refuses connections"), "\(shown.out)")
            let first = try #require(waiting.first)
            let card = try await scene.authc(["outbox", "show", first.id])
            #expect(card.status == 0 && card.err.isEmpty, "\(card)")
            let lines = card.out.split(separator: "\n").map(String.init)
            for line in [
                "entry     \(first.id)", "session   \(Self.fork)", "request   vote",
                "key       \(first.idempotencyKey)",
            ] { #expect(lines.contains(line), "\(card.out)") }
            #expect(lines.contains { $0.contains(/^state     (waits since |sending$)/) }, "\(card.out)")
            #expect(lines.contains { $0.hasPrefix("reason    127.0.0.1 refuses connections.") }, "\(card.out)")
            let json = try await scene.agent.json("outbox", "show", first.id)
            #expect(json["id"] == .string(first.id) && json["idempotency_key"] == .string(first.idempotencyKey))

            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            #expect(try await Self.outbox(scene).map(\.id) == waiting.map(\.id))
            let failed = try await scene.authc(["outbox", "flush"])
            #expect(failed.status == 75, "\(failed.status) \(failed.out)")
            try await scene.backends.setListening(true, .forkInTheRoad)
            let sent = try await scene.authc(["outbox", "flush"])
            #expect(sent.status == 0 && sent.err.contains("All entries were sent"), "\(sent.out)\(sent.err)")
            let keys = scene.backends.idempotencyKeys(.forkInTheRoad)
            #expect(Array(keys.suffix(2)) == waiting.map(\.idempotencyKey) && keys.count == 3)
            let seen = try await scene.authc(["call", "decision", "id=\(decision)"])
            #expect(seen.out.contains("restaurant-1") && seen.out.contains("votes"), "\(seen.out)")
            #expect(try await Self.outbox(scene).isEmpty)
            let gone = try await scene.authc(["outbox", "show", first.id])
            #expect(gone.status == 65 && gone.out.isEmpty && gone.err.contains("no entry \(first.id)"), "\(gone)")
        }
    }

    @Test("the queue is sent when its backend returns, with an event")
    func byItself() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            try await scene.backends.setListening(false, .forkInTheRoad)
            _ = try await Self.queue("Later", scene)
            #expect(await watch.out.wait(for: "\"event\":\"queued\""))
            try await scene.backends.setListening(true, .forkInTheRoad)
            // Something else reaches the backend first.
            _ = try await scene.authc(["call", "collections"])
            #expect(await watch.out.wait(for: "\"event\":\"sent\""))
            await watch.end()
            #expect(try await Self.outbox(scene).isEmpty)
            // The audit log has the request, and that it was sent, with the program that had made it.
            let log = try AuditList(await scene.agent.json("log")).entries.filter { $0.endpoint == "create-collection" }
            let request = log.last { $0.outbox == nil }
            let sent = log.last { $0.outbox != nil }
            #expect(request?.pid != nil && sent?.pid == nil && sent?.error == nil, "\(log)")
            #expect(sent?.rule == "default.act" && sent?.call == "POST /api/collections", "\(log)")
            #expect(sent?.session?.text == Self.fork && sent?.exe != nil && sent?.exe == request?.exe, "\(log)")
            let text = try await scene.authc(["log"]).out
            #expect(text.contains("sent from the outbox: \(sent?.outbox ?? "-")"), "\(text)")
        }
    }

    @Test(
        "a final refusal is returned to a waiting caller; later it is stored with the backend's message until dropped")
    func givenUp() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            let vote = ["call", "vote", "--queue", "id=nowhere", "restaurant_id=restaurant-1"]
            let refused = try await scene.authc(vote)
            #expect(refused.status == 65 && refused.err.contains("No such decision"), "\(refused.err)")
            #expect(try await Self.outbox(scene).isEmpty)

            try await scene.backends.setListening(false, .forkInTheRoad)
            #expect(try await scene.authc(vote).status == 0)
            #expect(try await Self.queue("After it", scene).status == 0)
            try await scene.backends.setListening(true, .forkInTheRoad)
            let flushed = try await scene.authc(["outbox", "flush"])
            #expect(flushed.status == 65 && flushed.out.contains("No such decision"), "\(flushed.out)")
            let queued = try await Self.outbox(scene)
            #expect(queued.map(\.state) == [.givenUp] && queued.map(\.request) == ["vote"])
            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            let shown = try await scene.authc(["outbox", "list"])
            #expect(shown.out.contains("given up") && shown.out.contains("No such decision"), "\(shown.out)")
            let card = try await scene.authc(["outbox", "show", queued.first?.id ?? ""])
            #expect(card.status == 0 && card.out.contains("state     given up"), "\(card)")
            #expect(card.out.contains("No such decision"), "\(card.out)")
            let count = scene.backends.counts[.forkInTheRoad, "POST /api/decisions/nowhere/vote"]
            let dropped = try await scene.authc(["outbox", "drop", queued.first?.id ?? ""])
            #expect(dropped.status == 0 && dropped.err.contains("Dropped: \(Self.fork) vote"), "\(dropped.err)")
            #expect(scene.backends.counts[.forkInTheRoad, "POST /api/decisions/nowhere/vote"] == count)
            #expect(!FileManager.default.fileExists(atPath: Self.file(scene)))
            #expect(try await scene.authc(["outbox", "drop", "other"]).status == 65)
            #expect(try await scene.authc(["outbox", "drop"]).status == 64)
        }
    }

    @Test("errors are reported before queueing; reads and streams are not queued")
    func checked() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            try await scene.backends.setListening(false, .forkInTheRoad)
            let missing = try await scene.authc(["call", "vote", "--queue", "id=1"])
            #expect(missing.status == 65 && missing.err.contains("restaurant_id"), "\(missing.err)")
            let read = try await scene.authc(["call", "collections", "--queue"])
            #expect(read.status == 65 && read.err.contains("change something"), "\(read.err)")
            let file = try await scene.authc(["request", "POST", "/collections", "--queue", "-o", "x"])
            #expect(file.status == 64, "\(file.err)")
            #expect(try await Self.outbox(scene).isEmpty)
        }
    }

    @Test("nothing that waits for one account is sent in the name of another")
    func otherAccount() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            try await scene.backends.setListening(false, .forkInTheRoad)
            #expect(try await Self.queue("Ada's", scene).status == 0)
            _ = try await scene.authc(["logout", "-s", Self.fork])
            #expect(try await Self.outbox(scene).count == 1)
            try await scene.backends.setListening(true, .forkInTheRoad)
            let eve = try await scene.authc(
                [
                    "register", Self.fork, "--environment", "local", "--field", "email=eve@example.org", "--field",
                    "name=Eve", "--password-stdin",
                ], input: "Correct-horse1")
            #expect(eve.status == 0, "\(eve.err)")
            let flushed = try await scene.authc(["outbox", "flush"])
            #expect(flushed.status == 77 && flushed.out.contains("another account"), "\(flushed.out)")
            #expect(scene.backends.counts[.forkInTheRoad, "POST /api/collections"] == 0)
        }
    }

    @Test("killed at any moment, it loses no write, and repeats none that was answered before the next one was sent")
    func killed() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            try await scene.backends.setListening(false, .forkInTheRoad)
            for number in 1...8 { #expect(try await Self.queue("\(number)", scene).status == 0) }
            let wanted = try await Self.outbox(scene).map(\.idempotencyKey)
            #expect(wanted.count == 8)
            // Killed with all of it waiting, so that the next ones begin with the first.
            try await scene.agent.child.end(SIGKILL)
            try await scene.backends.setListening(true, .forkInTheRoad)
            for round in 0..<6 {
                let before = scene.backends.idempotencyKeys(.forkInTheRoad).count
                // Every other time it is killed during the response, or there is no response.
                if round % 2 == 1 {
                    await scene.backends.misbehave(
                        .forkInTheRoad, Misbehaviour(path: "/api/collections", times: 1, .delay(.milliseconds(300))))
                }
                try await scene.startAgent()
                try await scene.backends.waitForKeys(before + 1, at: .forkInTheRoad)
                // Not a wait for something to happen: the moment of the kill is what is tried.
                try await ContinuousClock().sleep(for: .milliseconds(Int.random(in: 0...20)))
                try await scene.agent.child.end(SIGKILL)
                if scene.backends.idempotencyKeys(.forkInTheRoad).last == wanted.last { break }
            }
            try await scene.startAgent()
            _ = try await scene.authc(["wait", "--until", "active"])
            #expect(try await scene.authc(["outbox", "flush"]).status == 0)
            #expect(try await Self.outbox(scene).isEmpty)
            var received: [String] = []
            for key in scene.backends.idempotencyKeys(.forkInTheRoad) where received.last != key {
                received.append(key)
            }
            #expect(received == wanted)
        }
    }
}
