import AuthGateway
import Foundation
import Testing

@Suite("Limits of a front")
struct FrontLimitsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// `MemoryMax=` in bytes.
    private static func most(_ unit: String) throws -> Int {
        let text = try String(contentsOf: root.appending(path: "systemd/" + unit), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("MemoryMax=") && $0.hasSuffix("M") })
        return try #require(Int(line.dropFirst("MemoryMax=".count).dropLast())) << 20
    }

    @Test("all connections fit into the memory that the units allow")
    func memory() throws {
        // The program itself.
        let rest = 40 << 20
        let connections = FrontLimits().connections
        // While bodies are passed on: a read of each side, and what is being written.
        let passing = (20 << 10) + FrontLimits.readBytes + 2 * (64 << 10)
        #expect(try connections * passing + rest < Self.most("authd-proxy@.service"))
        // The endpoint passes no bodies on, but keeps the buffers.
        let kept = (20 << 10) + FrontLimits.readBytes
        #expect(try connections * kept + rest < Self.most("authd-http.service"))
    }
}
