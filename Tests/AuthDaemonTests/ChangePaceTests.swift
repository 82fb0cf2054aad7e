import Testing

@testable import AuthDaemon

@Suite("The pace of work that follows changes")
struct ChangePaceTests {
    @Test(
        "is a tenth of a processor, without a pause after short work, or one of more than a quarter of a second",
        arguments: [
            (Duration.microseconds(10), Duration?.none), (.microseconds(499), nil),
            (.milliseconds(2), .milliseconds(18)),
            (.seconds(1), .milliseconds(250)),
        ])
    func pause(work: Duration, expected: Duration?) {
        #expect(ChangePace.pause(after: work) == expected)
    }
}
