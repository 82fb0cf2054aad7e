import Foundation
import TestSupport
import Testing

/// `Tests/run-suites` leaves suites of this name out unless it runs as root.
@Suite("authc doctor about lingering (as root)", .timeLimit(.minutes(1)))
struct LingeringRootTests {
    /// Runs authc where systemd seems to run (sd_booted(3)), with a loginctl that writes down its arguments.
    private static func doctor(_ option: String, in folder: String, status: Int) async throws -> Program {
        try "#!/bin/sh\necho \"$@\" >> '\(folder)/calls'\nexit \(status)\n".write(
            toFile: folder + "/loginctl", atomically: false, encoding: .utf8)
        #expect(chmod(folder + "/loginctl", 0o755) == 0)
        let script = "mount -t tmpfs none /run && mkdir -p /run/systemd/system && exec \"$0\" doctor \"$1\" --socket /s"
        return try await Program.run(
            ["-m", "sh", "-c", script, Program.authc, option], folder: folder,
            environment: ["PATH": "\(folder):/usr/sbin:/usr/bin:/sbin:/bin", "USER": "wombat"],
            program: "/usr/bin/unshare")
    }

    @Test("only --fix enables lingering, and a failure is reported")
    func linger() async throws {
        let folder = try TemporaryFolder()
        let calls = folder.path + "/calls"
        let found = try await Self.doctor("--json", in: folder.path, status: 0)
        #expect(found.output.contains("\"fix\":\"loginctl enable-linger\""), "\(found)")
        #expect(!FileManager.default.fileExists(atPath: calls))
        let fixed = try await Self.doctor("--fix", in: folder.path, status: 0)
        #expect(fixed.errors.contains("fixed: loginctl enable-linger\n"), "\(fixed)")
        #expect(try String(contentsOfFile: calls, encoding: .utf8) == "enable-linger\n")
        let failed = try await Self.doctor("--fix", in: folder.path, status: 5)
        #expect(failed.errors.contains("not fixed: `loginctl enable-linger` ended with status 5"), "\(failed)")
    }
}
