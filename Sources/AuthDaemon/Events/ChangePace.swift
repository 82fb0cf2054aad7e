/// Limits work that reads every session after each change to about a tenth of a processor: with a thousand sessions
/// there may be many changes a second.
enum ChangePace {
    private static let short = Duration.microseconds(500)
    private static let longest = Duration.milliseconds(250)

    /// - Returns: `nil` after a short piece of work.
    static func pause(after work: Duration) -> Duration? { work < short ? nil : min(work * 9, longest) }

    /// Does the work, and returns after the pause. A cancelled pause ends at once.
    static func follow(isolation: isolated (any Actor)? = #isolation, _ work: () async -> Void) async {
        let begin = ContinuousClock.now
        await work()
        guard let pause = pause(after: ContinuousClock.now - begin) else { return }
        try? await Task.sleep(for: pause)
    }
}
