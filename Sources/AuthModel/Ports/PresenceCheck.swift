/// Asks the user to confirm that they are there, through a process that programs of the user cannot answer for.
package protocol PresenceCheck: Sendable {
    /// Waits for the user, without a limit. A cancelled task ends the check.
    /// - Parameter number: of the check, which is used once.
    func ask(_ question: PresenceQuestion, number: UInt64) async -> PresenceAnswer

    /// Ends a check; its answer is ``PresenceAnswer/withdrawn``.
    func withdraw(_ number: UInt64)
}
