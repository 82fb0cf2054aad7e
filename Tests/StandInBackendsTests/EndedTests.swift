import StandInBackends
import Testing

@Suite("Stand-ins that have ended")
struct EndedTests {
    @Test("keep no port")
    func ports() async throws {
        weak let left = try await StandIns.serving { $0 }
        #expect(left == nil)
        weak let server = try await OAuthStandIn.serving { $0 }
        #expect(server == nil)
    }
}
