import Foundation

/// Wrong clocks for some programs, set by the test.
package final class WrongClock: Sendable {
    private let folder: TemporaryFolder
    package let environment: [String: String]

    package init() async throws {
        folder = try TemporaryFolder()
        let library = folder.path + "/clock-shim.so"
        try await Self.compile("clock-shim.c", ["-shared", "-fPIC", "-o", library])
        environment = ["LD_PRELOAD": library, "CLOCK_SHIM_FILE": folder.path + "/shift"]
        try set(seconds: 0)
    }

    /// Sets the machine's own clock by almost nothing; `false` if that is not allowed.
    package func nudge() async throws -> Bool {
        let program = folder.path + "/clock-nudge"
        try await Self.compile("clock-nudge.c", ["-o", program])
        let output = try await Child([program], environment: [:]).output()
        guard [0, 77].contains(output.status) else { throw Failure("clock-nudge: \(output.err)") }
        return output.status == 0
    }

    /// The date is wrong by that much. No program is notified.
    package func set(seconds: Int) throws {
        _ = try folder.write("\(seconds) 0\n", to: "shift")
    }

    /// The programs stop, as on a machine that sleeps for that long, and wake with clocks that have gone on.
    ///
    /// - Parameter meanwhile: what others do during the sleep.
    package func sleep(_ programs: [Child], seconds: Int, meanwhile: () async throws -> Void = {}) async throws {
        for program in programs { program.kill(SIGSTOP) }
        let result: Result<Void, any Error>
        do {
            _ = try folder.write("0 \(seconds)\n", to: "shift")
            try await meanwhile()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        for program in programs { program.kill(SIGCONT) }
        try result.get()
    }

    private static func compile(_ name: String, _ options: [String]) async throws {
        let source = SourceTree.path("Tests/RealNetworkTests/\(name)")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let output = try await Child(["gcc", "-O1"] + options + [source], environment: ["PATH": path]).output()
        guard output.status == 0 else { throw Failure("gcc: \(output.err)") }
    }
}
