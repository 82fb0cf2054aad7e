import Foundation
import TestSupport

/// A child process whose service manager is the test.
final class Program: Sendable {
    private let child: Child
    private let manager: NotifySocket

    /// - Parameters:
    ///   - through: a program that runs it, with its arguments.
    ///   - variables: environment variables besides the usual ones.
    init(
        _ home: Home, _ arguments: [String], program: String = Programs.authd, through: [String] = [],
        first: [String] = [], watchdog: Duration? = nil, variables: [String: String] = [:]
    ) async throws {
        manager = try NotifySocket(at: home.folder.path + "/notify-\(UInt32.random(in: 0 ... .max))")
        var environment = home.environment.merging(variables) { $1 }
        environment["NOTIFY_SOCKET"] = manager.path
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog.components.attoseconds / 1_000_000_000_000)" }
        let passed = through.isEmpty ? [] : environment.keys.flatMap { ["-E", $0] }
        let command = through.prefix(1) + passed + through.dropFirst() + [program] + first + arguments
        child = try await Child(Array(command), environment: environment)
        child.whenEnded { [manager] _ in manager.end() }
    }

    var pid: Int32 { child.pid }

    func signal(_ number: Int32) { child.kill(number) }

    /// Returns when it reports that it is ready; fails if it ends before.
    func ready() async throws { try await waitForState { $0.contains("READY=1") } }

    /// Waits for the next such notification to the service manager.
    @discardableResult
    func waitForState(_ matches: (String) -> Bool) async throws -> String {
        guard let message = await manager.message(matches) else {
            throw Failure("it ended without telling the service manager: \(await errors())")
        }
        return message
    }

    func ended() async -> Int32 { await child.ended() }

    func end(_ signal: Int32 = SIGTERM) async -> Int32 { await child.end(signal) }

    /// Everything, once it has ended.
    func output() async -> String { await child.out.all() }
    func errors() async -> String { await child.err.all() }
}
