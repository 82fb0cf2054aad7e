import Foundation
import TestSupport
import Testing

/// `authc` alone in a folder, and the full program (`authc-full`). What the first one does by itself, the full program does in
/// the same way.
enum QuickAuthc {
    static var full: String { Programs.folder + "/authc-full" }

    /// What `authc` prints if it needs the full program.
    static func needsFullProgram(_ folder: String) -> String {
        "authc: cannot start \(folder)/../libexec/authd-session/authc-full: No such file or directory.\n"
    }

    /// - Returns: the path of the program.
    @discardableResult static func install(in folder: String) throws -> String {
        let program = folder + "/authc"
        if !FileManager.default.fileExists(atPath: program) {
            try FileManager.default.copyItem(atPath: Programs.authc, toPath: program)
        }
        return program
    }

    static func run(_ arguments: [String], _ folder: String, _ environment: [String: String] = [:]) async throws
        -> Program
    {
        try await Program.run(arguments, folder: folder, environment: environment, program: install(in: folder))
    }

    /// The same for commands that it handles without the full program. It leaves them to that one if the agent answers late, and
    /// is then run again.
    static func runAlone(_ arguments: [String], _ folder: String, _ environment: [String: String] = [:]) async throws
        -> Program
    {
        var result = try await run(arguments, folder, environment)
        for _ in 1...20 where result.errors == needsFullProgram(folder) {
            result = try await run(arguments, folder, environment)
        }
        return result
    }

    static func expectLeft(
        _ arguments: [String], _ folder: String, _ environment: [String: String] = [:], _ comment: Comment? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await run(arguments, folder, environment)
        #expect(result.output.isEmpty, comment, sourceLocation: location)
        #expect(result.errors == needsFullProgram(folder), comment, sourceLocation: location)
        #expect(result.status == 70, comment, sourceLocation: location)
    }

    /// - Parameter output: what both print; `nil` for anything, as long as it is the same.
    static func expectSame(
        _ output: String?, of arguments: [String], _ folder: String, _ environment: [String: String] = [:],
        status: Int32 = 0, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation
    ) async throws {
        let comment = comment ?? "\(arguments)"
        var alone = try await runAlone(arguments, folder, environment)
        let all = try await Program.run(arguments, folder: folder, environment: environment, program: full)
        // A minute or an hour may have ended between the two.
        if alone.output != all.output { alone = try await runAlone(arguments, folder, environment) }
        #expect(alone.output == all.output, comment, sourceLocation: location)
        if let output { #expect(alone.output == output, comment, sourceLocation: location) }
        for result in [alone, all] {
            #expect(result.errors.isEmpty && result.status == status, comment, sourceLocation: location)
        }
    }
}
