import AuthModel
import Testing

@Suite("A secret")
struct SecretTests {
    @Test(
        "is complete at any length, and is stored in locked pages up to 64 KiB",
        arguments: [0, 1, 64, 65, 4097, 65536])
    func lengths(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let secrets = (0..<20).map { _ in Secret(bytes: bytes) }
        #expect(secrets.allSatisfy { $0.revealBytes() == bytes && $0 == secrets[0] })
        let usage = SecretPages.shared.usage
        #expect(usage.locked + usage.unlocked >= 20 * count)
    }

    @Test("that is larger than any slot is complete too, and uses no pages")
    func large() {
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        #expect(Secret(bytes: bytes).revealBytes() == bytes)
    }

    @Test("releases its slot for the next one, so that pages do not grow with use")
    func usedAgain() {
        let before = Self.mapped
        for number in 0..<100 {
            #expect(Secret(bytes: [UInt8](repeating: UInt8(number), count: 30_000)).count == 30_000)
        }
        // Without reuse there would be a slot of 64 KiB each; the other test here uses twenty of that size.
        #expect(Self.mapped - before <= 21 * 65536)
    }

    private static var mapped: Int {
        let usage = SecretPages.shared.usage
        return usage.locked + usage.unlocked
    }
}
