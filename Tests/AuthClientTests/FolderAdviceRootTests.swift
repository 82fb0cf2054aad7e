import Foundation
import TestSupport
import Testing

/// `Tests/run-suites` leaves suites of this name out unless it runs as root.
@Suite("authc doctor about the socket's folder (as root)", .timeLimit(.minutes(1)))
struct FolderAdviceRootTests {
    @Test("that is open to others does not advise root to close it", arguments: [0o1777, 0o755] as [mode_t])
    func doctor(bits: mode_t) async throws {
        let folder = try TemporaryFolder()
        let socket = try folder.write("", to: "socket")
        #expect(chmod(folder.path, bits) == 0)
        let result = try await Program.run(["doctor", "--json", "--socket", socket], folder: folder.path)
        #expect(result.output.contains("other users can open its folder"), "\(result.output)\(result.errors)")
        #expect(!(result.output + result.errors).contains("chmod"), "\(result.output)\(result.errors)")
    }
}
