/// Keeps work that looks at every session, and follows each change, to about a tenth of a processor: with a thousand sessions
/// there may be many changes a second. With few sessions there is no pause, so that a prompt shows a sign-in at once.
enum ChangePace {
    private static let few = 100
    private static let longest = Duration.milliseconds(250)

    /// - Returns: `nil` with few sessions.
    static func pause(after work: Duration, sessions: Int) -> Duration? {
        sessions <= few ? nil : min(work * 9, longest)
    }

    /// Does the work, which returns the number of sessions, and returns after the pause. A cancelled pause ends at once.
    static func follow(isolation: isolated (any Actor)? = #isolation, _ work: () async -> Int) async {
        let begin = ContinuousClock.now
        let sessions = await work()
        guard let pause = pause(after: ContinuousClock.now - begin, sessions: sessions) else { return }
        try? await Task.sleep(for: pause)
    }
}
