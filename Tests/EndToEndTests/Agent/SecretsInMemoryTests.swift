import Foundation
import StandInBackends
import TestSupport
import Testing

/// What root, who may read the agent's memory, finds in it. `Tests/run-suites` leaves suites of this name out unless it runs as root.
@Suite("The agent's memory, read by root", .serialized)
struct SecretsInMemoryRootTests {
    /// Longer than the texts that Swift keeps in registers and on stacks (Docs/threat-model.md, "What is not promised").
    private static let password = "Correct-horse1-battery-staple"
    /// The end of a token's signature, which distinguishes it from others.
    private static let partLength = 32
    /// Reading all of the memory takes a tenth of a second; what is freed a moment after an answer has that long.
    private static let looks = 20

    @Test("holds no password after sign-in, no former token, and nothing after sign-out")
    func nothingIsLeft() async throws {
        try await Scene.play(seed: SeedUser(password: Self.password)) { scene in
            let pid = try scene.agent.child.pid
            #expect(try await scene.login(.appTemplate, password: Self.password).status == 0)
            for _ in 1...3 { #expect(try await scene.agent.authc("refresh", "-s", "app-template").status == 0) }
            let token = try await scene.agent.authc("token", "-s", "app-template").out
            let current = Self.part(token.trimmingCharacters(in: .newlines))
            let given = scene.backends.secrets.filter { $0.count > Self.partLength }
            // The refresh token, which is no JWT, comes with the sign-in and stays until the session ends.
            let kept = [current] + given.filter { !$0.contains(".") && $0 != Self.password }.map(Self.part)
            #expect(kept.count == 2 && given.map(Self.part).contains(current))

            let memory = try ProcessMemory(of: pid)
            defer { memory.close() }
            // That it is looked at in the right way: what is in use is there.
            for text in kept { #expect(try memory.find([text]).isEmpty == false) }
            let old = given.map(Self.part).filter { !kept.contains($0) } + [Self.password]
            #expect(old.count >= 4)
            try Self.expectNone(old, in: memory, "after renewals")

            #expect(try await scene.agent.authc("logout", "-s", "app-template").status == 0)
            try Self.expectNone(old + kept, in: memory, "after sign-out")
        }
    }

    private static func part(_ token: String) -> String { String(token.suffix(partLength)) }

    private static func expectNone(_ secrets: [String], in memory: ProcessMemory, _ when: String) throws {
        var found = try memory.find(secrets)
        for _ in 1..<looks where !found.isEmpty { found = try memory.find(secrets) }
        let places = Dictionary(grouping: found, by: \.text).values.map { $0.map(\.place) }
        let kinds = found.map { $0.text == password ? "password" : "token" }
        #expect(found.isEmpty, "\(when): \(kinds) in \(places)")
    }
}

@Suite("The agent's memory, for others", .serialized)
struct SecretsInMemoryTests {
    @Test("a crash prints little, and no secret")
    func crash() async throws {
        try await Scene.play { scene in
            let login = try await scene.login(.appTemplate)
            #expect(login.status == 0)
            let agent = try scene.agent.child
            #expect(await agent.end(SIGSEGV) == 128 + SIGSEGV)
            // What it logged before is looked through at the scene's end, for secrets in every form.
            let log = await agent.err.all()
            #expect(!log.contains("acktrace"))
        }
    }

    @Test("keeps secrets in locked pages, out of dumps and away from other programs")
    func locked() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let status = try String(contentsOfFile: "/proc/\(scene.agent.child.pid)/status", encoding: .utf8)
            let locked = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
            #expect(locked.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 > 0, "\(locked)")
            // The files of a process that is not dumpable belong to root (proc(5)).
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(scene.agent.child.pid)/mem")
            #expect(owner[.ownerAccountID] as? Int == 0)
        }
    }
}
