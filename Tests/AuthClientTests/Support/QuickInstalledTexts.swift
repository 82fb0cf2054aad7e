import Foundation
import TestSupport
import Testing

/// `authc` in a folder with the texts that `authc-full` has written, and with a file in place of that program: what is
/// left to it is an error that says so.
final class QuickInstalledTexts: Sendable {
    let folder: String

    var program: String { folder + "/authc" }
    var texts: String { folder + "/authc-texts" }
    /// The message for a command line that is left to `authc-full`.
    var startFailure: String { "authc: cannot start \(folder)/authc-full: Permission denied.\n" }

    /// Written once.
    private static let content = Task {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let written = try await Program.run(["---texts"], folder: folder, program: QuickAuthc.full)
        try #require(written.status == 0 && written.errors.isEmpty, "\(written.errors)")
        return written.output
    }

    init() async throws {
        let content = try await Self.content.value
        folder = try TestFolder.make()
        try QuickAuthc.install(in: folder)
        try replace("authc-full", with: "")
        try replace("authc-texts", with: content)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Writes a file that is newer than all others.
    func replace(_ name: String, with content: String) throws {
        try Data(content.utf8).write(to: URL(filePath: folder + "/" + name))
        try #require(chmod(folder + "/" + name, 0o600) == 0)
    }

    func run(_ words: [String], _ environment: [String: String] = [:]) async throws -> Program {
        try await Program.run(words, folder: folder, environment: environment, program: program)
    }

    func runFull(_ words: [String], _ environment: [String: String] = [:]) async throws -> Program {
        try await Program.run(words, folder: folder, environment: environment, program: QuickAuthc.full)
    }

    /// - Returns: what both programs print.
    @discardableResult func expectSame(
        _ words: [String], _ environment: [String: String] = [:], location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let (alone, full) = (try await run(words, environment), try await runFull(words, environment))
        #expect(alone.output == full.output, "\(words) \(environment)", sourceLocation: location)
        for result in [alone, full] {
            #expect(result.errors.isEmpty && result.status == 0, "\(words) \(environment)", sourceLocation: location)
        }
        return alone.output
    }

    func expectLeft(
        _ words: [String], _ environment: [String: String] = [:], _ comment: Comment? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await run(words, environment)
        let comment = comment ?? "\(words) \(environment)"
        #expect(result.output.isEmpty, comment, sourceLocation: location)
        #expect(result.errors == startFailure && result.status == 70, comment, sourceLocation: location)
    }
}
