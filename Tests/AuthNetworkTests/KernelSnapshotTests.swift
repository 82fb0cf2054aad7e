import AuthModel
import AuthNetwork
import Testing

@Suite("The kernel's messages")
struct KernelSnapshotTests {
    @Test("a damaged or forged message is read as far as possible, and never beyond its end", arguments: 0..<200)
    func damaged(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let kinds: [UInt16] = [16, 20, 24]
        var picture = KernelSnapshot()
        for _ in 0..<50 {
            var bytes = (0..<Int.random(in: 0...96, using: &random)).map { _ in UInt8.random(in: 0...40, using: &random)
            }
            if bytes.count >= 6 {
                // A plausible length, and a type that is parsed.
                bytes.replaceSubrange(0..<4, with: [UInt8(bytes.count), 0, 0, 0])
                bytes.replaceSubrange(4..<6, with: [UInt8(kinds.randomElement(using: &random) ?? 16), 0])
            }
            for message in NetlinkMessage.list(in: bytes[...]) { picture.add(message) }
        }
        #expect(picture.links.count < 51)
    }

    @Test("three clocks distinguish sleep from a clock change")
    func clocks() {
        let before = ClockReading(boot: .seconds(100), awake: .seconds(90), wall: .seconds(1_800_000_000))
        let slept = ClockReading(boot: .seconds(4000), awake: .seconds(100), wall: .seconds(1_800_003_900))
        #expect(slept.sleep(since: before) == .seconds(3890) && slept.shift(since: before) == .zero)
        let set = ClockReading(boot: .seconds(110), awake: .seconds(100), wall: .seconds(1_799_996_410))
        #expect(set.sleep(since: before) == .zero && set.shift(since: before) == .seconds(-3600))
        let trimmed = ClockReading(boot: .seconds(110), awake: .seconds(100), wall: .milliseconds(1_800_000_010_400))
        #expect(trimmed.sleep(since: before) == .zero && trimmed.shift(since: before) == .zero)
    }
}
