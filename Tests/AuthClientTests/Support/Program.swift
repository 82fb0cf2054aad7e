import Foundation
import TestSupport

/// A program run to its end: what it printed and how it ended.
struct Program: Sendable {
    var output: String
    var errors: String
    /// 128 + n for signal n.
    var status: Int32

    static var authc: String { Programs.authc }

    /// Copies authc, with the full program.
    /// - Returns: the path of the copy.
    static func copy(to folder: String) throws -> String {
        for name in ["authc", "authc-full"] {
            try FileManager.default.copyItem(atPath: Programs.folder + "/" + name, toPath: folder + "/" + name)
        }
        return folder + "/authc"
    }

    /// An environment that does not depend on the user who runs the tests.
    static func environment(_ folder: String, _ more: [String: String] = [:]) -> [String: String] {
        ["XDG_RUNTIME_DIR": folder, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": folder]
            .merging(more) { $1 }
    }

    static func run(
        _ arguments: [String], folder: String, environment: [String: String] = [:], input: String = "",
        program: String = Program.authc
    ) async throws -> Program {
        let child = try await Child(
            [program] + arguments, environment: Self.environment(folder, environment), input: .text(input))
        let result = await child.output()
        return Program(output: result.out, errors: result.err, status: result.status)
    }
}
