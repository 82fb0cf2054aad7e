import AuthDaemon
import AuthFiles
import AuthModel
import AuthWire
import TestSupport
import Testing

@Suite("The file of renewal pauses")
struct PauseFileTests {
    @Test("the next run reads what the previous one saved, or nothing")
    func keeps() throws {
        let folder = try TemporaryFolder()
        let file = StateFile.pauses(beside: folder.path + "/socket")
        #expect(file.load().isEmpty)
        let from = WallTime(unixSeconds: 1_800_000_000)
        let pauses = [
            try SessionName("work"): RenewalPause(
                failures: 2, from: from, until: from + .seconds(4), isRequestedByProvider: true)
        ]
        try file.write(pauses)
        #expect(StateFile.pauses(beside: folder.path + "/socket").load() == pauses)
        try file.write([:])
        #expect(file.load().isEmpty)
    }
}
