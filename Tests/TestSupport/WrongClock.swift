import Foundation

/// A wrong date for one program, set by the test.
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

    package func set(seconds: Int) throws {
        _ = try folder.write("\(seconds)\n", to: "shift")
    }

    private static func compile(_ name: String, _ options: [String]) async throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let source = tests.appending(path: "RealNetworkTests/\(name)").path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let output = try await Child(["gcc", "-O1"] + options + [source], environment: ["PATH": path]).output()
        guard output.status == 0 else { throw Failure("gcc: \(output.err)") }
    }
}
