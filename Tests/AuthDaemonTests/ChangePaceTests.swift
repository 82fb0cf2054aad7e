import Testing

@testable import AuthDaemon

@Suite("The pace of work that follows changes")
struct ChangePaceTests {
    @Test(
        "is a tenth of a processor at most, without a pause with few sessions, or one that a user notices",
        arguments: [
            (Duration.milliseconds(2), 100, Duration?.none), (.seconds(1), 1, nil),
            (.milliseconds(2), 101, .milliseconds(18)), (.seconds(1), 10_000, .milliseconds(250)),
        ])
    func pause(work: Duration, sessions: Int, expected: Duration?) {
        #expect(ChangePace.pause(after: work, sessions: sessions) == expected)
    }
}
