import TestSupport

extension Terminal {
    /// With an environment that does not depend on the user who runs the tests.
    convenience init(
        _ line: String, folder: String, columns: UInt16 = 80, rows: UInt16 = 24, environment: [String: String] = [:]
    ) async throws {
        try await self.init(line, columns: columns, rows: rows, environment: Program.environment(folder, environment))
    }
}
