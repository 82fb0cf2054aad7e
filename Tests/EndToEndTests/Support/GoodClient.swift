import AuthWire
import Foundation
import Synchronization
import TestSupport

/// A program that requests a token on one connection over and over, while something else happens; and what that costs
/// the agent.
final class GoodClient: Sendable {
    private let isOver = Atomic(false)
    private let answered = Atomic(0)

    /// - Returns: how many tokens it got meanwhile.
    static func beside(
        _ scene: Scene, session: String, _ test: @Sendable () async throws -> Void
    ) async throws -> Int {
        let client = GoodClient()
        let path = scene.desktop.folder.path + "/run/authd/socket"
        let token = try await scene.agent.authc("token", "-s", session).out.trimmingCharacters(in: .newlines)
        guard !token.isEmpty else { throw Failure("the good client has no token") }
        let (begins, begin) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { begin.finish() }
                try await onThread { try client.ask(path, session, token) { begin.yield() } }
            }
            // It is connected before anything happens, or has failed.
            for await _ in begins { break }
            // If the client fails, its error is the one to see.
            let result: Result<Void, any Error>
            do {
                result = .success(try await test())
            } catch {
                result = .failure(error)
            }
            client.isOver.store(true, ordering: .relaxed)
            try await group.waitForAll()
            try result.get()
        }
        return client.answered.load(ordering: .relaxed)
    }

    /// Its parsed form and its plain one take turns.
    private func ask(_ path: String, _ session: String, _ token: String, _ answered: () -> Void) throws {
        let client = try RawClient(path)
        while !isOver.load(ordering: .relaxed) {
            for params in [["session": .string(session)], ["session": .string(session), "min_valid_ms": 1]] as [JSON] {
                let answer = try client.ask("token.get", params)
                guard answer["result"]?["access_token"]?.stringValue == token else { throw Failure(answer.text()) }
                if self.answered.add(1, ordering: .relaxed).newValue == 1 { answered() }
            }
        }
    }
}

/// What the agent, or another process, takes.
struct AgentSize: CustomStringConvertible {
    let megabytes: Int
    let descriptors: Int
    let threads: Int

    init(of agent: Agent) throws { try self.init(of: agent.child.pid) }

    init(of process: pid_t) throws {
        let folder = "/proc/\(process)"
        let status = try String(contentsOfFile: folder + "/status", encoding: .utf8)
        guard let memory = status.firstMatch(of: /VmRSS:\s+([0-9]+) kB/).flatMap({ Int($0.1) }),
            let threads = status.firstMatch(of: /Threads:\s+([0-9]+)/).flatMap({ Int($0.1) })
        else { throw Failure(status) }
        (megabytes, self.threads) = (memory >> 10, threads)
        descriptors = try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count
    }

    var description: String { "\(megabytes) MiB, \(descriptors) descriptors, \(threads) threads" }
}
