/// Repeats a condition until it is true; `false` if it is not after a minute and 400 tries.
///
/// Both, as a try takes less than a microsecond in one test, and seconds in another one on a busy machine.
package func until(_ holds: () async throws -> Bool) async throws -> Bool {
    let start = ContinuousClock.now
    var tries = 0
    while true {
        if try await holds() { return true }
        tries += 1
        if tries >= 400, ContinuousClock.now - start > .seconds(60) { return false }
        await Task.yield()
    }
}
