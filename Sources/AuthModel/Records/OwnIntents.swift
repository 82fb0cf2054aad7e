/// What a host knows about its own notes for the next holders of a session: one that is left is then no riddle to its author.
package struct OwnIntents: Sendable {
    private let prefix: String
    private var count = 0
    /// The one under which tokens were sent last, and how that ended.
    private var sent: (id: String, end: HoldOutcome.FormerHold)?

    /// - Parameter prefix: no other run of any host has it.
    package init(prefix: String) {
        self.prefix = prefix
    }

    /// The ID of the next hold's note. If it is found, the response to the hold was lost, and nothing was sent.
    package var hold: String { "\(prefix)-hold-\(count)" }

    /// The ID of the next claim's note. If it is found, only the former holder has sent the tokens.
    package var claim: String { "\(prefix)-claim-\(count)" }

    package var last: String? { sent?.id }

    /// - Returns: how the hold ended that left the note with this ID; `nil`: it is not known here.
    package func formerHold(leaving id: String) -> HoldOutcome.FormerHold? {
        switch id {
        case hold: .answered
        case claim: .unanswered
        case sent?.id: sent?.end
        default: nil
        }
    }

    /// The tokens are about to be sent under the note with this ID.
    package mutating func begin(_ id: String) {
        count += 1
        sent = (id, .abandoned)
    }

    /// The request that was sent under the last note has ended.
    package mutating func end(_ end: HoldOutcome.FormerHold) { sent?.end = end }
}
