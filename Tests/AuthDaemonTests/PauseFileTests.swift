import AuthDaemon
import AuthModel
import AuthWire
import TestSupport
import Testing

@Suite("The file of renewal pauses")
struct PauseFileTests {
    @Test("the next run reads what the previous one saved, or nothing")
    func keeps() throws {
        let folder = try TemporaryFolder()
        let file = PauseFile(beside: folder.path + "/socket")
        #expect(file.load().isEmpty)
        let from = WallTime(unixSeconds: 1_800_000_000)
        let pauses = [
            try SessionName("work"): RenewalPause(
                failures: 2, from: from, until: from + .seconds(4), isRequestedByProvider: true)
        ]
        file.keep(pauses)
        #expect(PauseFile(beside: folder.path + "/socket").load() == pauses)
        file.keep([:])
        #expect(file.load().isEmpty)
    }
}
