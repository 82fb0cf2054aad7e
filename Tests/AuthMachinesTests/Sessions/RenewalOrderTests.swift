import AuthMachines
import AuthModel
import Testing

@Suite("Which host renews first")
struct RenewalOrderTests {
    @Test(
        "the host that has renewed a token begins before the others would, and they before the token's end",
        arguments: [8, 10, 30, 60, 119, 120, 200, 230, 300, 600, 3600, 86_400, 30 * 86_400])
    func order(life: Int) {
        let start = BootInstant(sinceBoot: .seconds(1000))
        let end = start + .seconds(life)
        var random = SeededRandom(seed: UInt64(life))
        for _ in 1...200 {
            let first = RenewalPolicy.due(start: start, end: end, using: &random)
            let later = RenewalPolicy.due(start: start, end: end, isLater: true, using: &random)
            // Longer than a renewal that goes well.
            #expect(later - first >= .milliseconds(900) && end - later >= .milliseconds(900))
        }
    }
}
