import AuthWire
import Testing

@Suite("The limits for a client")
struct LimitsTests {
    @Test("are the promised ones")
    func values() {
        #expect(Limits.lineBytes == 1_048_576)
        #expect(Limits.lineTime == .seconds(10))
        #expect(Limits.connectionsPerProcess == 256)
        #expect(Limits.connectionsPerUser == 12_000)
        #expect(Limits.jsonValues == 65_536)
        #expect(Limits.jsonNesting == 128)
        #expect(Limits.batchAnswerBytes == 4_194_304)
        #expect(Limits.requestsPerConnection == 128)
        #expect(Limits.streamsPerConnection == 8)
        #expect(Limits.pieceBytes == 131_072)
        #expect(Limits.longestDuration == .seconds(31_622_400))
    }
}
