import Foundation
import TestSupport
import Testing

/// The packages that the tests install on a machine.
enum PackageTrial {
    /// In `make test` the programs of the tests, on a view of this machine's files; `make check-packages` names release
    /// programs and a Debian without Swift.
    private static let programs = setting("PACKAGED_PROGRAMS") ?? Programs.folder
    static let files = setting("PACKAGE_ROOT") ?? "/"

    /// Appends a line to the record that `make check-packages` writes.
    /// - Parameter step: what was done.
    static func record(_ step: String, _ result: String) throws {
        guard let path = setting("PACKAGE_RECORD") else { return }
        let file = try #require(FileHandle(forWritingAtPath: path), "\(path)")
        defer { try? file.close() }
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(step)\t\(result)\n".utf8))
    }

    static func seconds(_ time: Duration) -> String { String(format: "%.1f s", time / .seconds(1)) }

    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Version 1 of all packages, and version 2 of authd-session, where the machine sees them.
    static func assemble(for machine: BootedMachine) async throws -> (old: [String], new: String) {
        let (old, new) = (try machine.folder.folder("old"), try machine.folder.folder("new"))
        var environment = ProcessInfo.processInfo.environment
        // Unpacked by the test itself: a smaller file is not worth the time.
        (environment["PACKAGE_VERSION"], environment["COMPRESSION"]) = ("1", "-Znone")
        let assembled = try await Child(
            [SourceTree.path("Sources/Packaging/deb/assemble"), programs, old], environment: environment
        ).output()
        try #require(assembled.status == 0, "\(assembled.err)")
        let packages = assembled.out.split(separator: "\n").map(String.init)
        let session = try #require(packages.first { $0.contains("/authd-session_1_") })
        let repacked = try await Child(
            [
                "sh", "-euc",
                """
                dpkg-deb --field "$0" Depends
                dpkg-deb --raw-extract "$0" "$1/tree"
                sed -i 's/^Version: 1$/Version: 2/' "$1/tree/DEBIAN/control"
                dpkg-deb --root-owner-group -Znone --build "$1/tree" "$1" >/dev/null
                rm -r "$1/tree"
                """, session, new,
            ], environment: environment
        ).output()
        try #require(repacked.status == 0, "\(repacked.err)")
        for library in ["libsecret-1-0", "libsystemd0", "libsqlite3-0", "libglib2.0-0"] {
            #expect(repacked.out.contains(library), "\(repacked.out)")
        }
        return (packages, session.replacing("/old/", with: "/new/").replacing("_1_", with: "_2_"))
    }
}

extension BootedMachine {
    /// Records which of our packages dpkg knows after a step.
    func record(_ step: String) async throws {
        let list = try await asRoot(
            "sh", "-c",
            """
            dpkg-query --show --showformat='${Package} ${Version}: ${db:Status-Status}\\n' |
                grep -E '^(authd-session|libauthclient0|libauthclient-dev|python3-authd-client) '
            """)
        let packages = list.out.split(separator: "\n").joined(separator: ", ")
        try PackageTrial.record(step, packages.isEmpty ? "dpkg knows none of the packages" : packages)
    }

    @discardableResult
    func apply(_ command: String) async throws -> Child.Output {
        let output = try await asRoot("sh", "-euc", command)
        #expect(output.status == 0, "\(command): \(output.out)\(output.err)")
        return output
    }
}
