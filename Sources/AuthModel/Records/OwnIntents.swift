/// What a host remembers about its own intents for one session, so that it recognizes an intent that it finds in the
/// store.
package struct OwnIntents: Sendable {
    private let prefix: String
    private var count = 0
    /// The intent under which tokens were last sent, and how that hold ended.
    private var sent: (id: String, end: HoldOutcome.FormerHold)?

    /// - Parameter prefix: unique to this run of this host.
    package init(prefix: String) {
        self.prefix = prefix
    }

    /// The ID of the next hold's intent. If the store has it, the response to the hold was lost, and nothing was sent.
    package var holdID: String { "\(prefix)-hold-\(count)" }

    /// The ID of the next claim's intent. If the store has it, the response to the claim was lost, and only the former
    /// holder has sent the tokens.
    package var claimID: String { "\(prefix)-claim-\(count)" }

    package var lastID: String? { sent?.id }

    /// - Returns: how the hold that left this intent ended; `nil` if the intent is not this host's.
    package func formerHold(leaving id: String) -> HoldOutcome.FormerHold? {
        switch id {
        case holdID: .answered
        case claimID: .unanswered
        case sent?.id: sent?.end
        default: nil
        }
    }

    /// The tokens are about to be sent under this intent.
    package mutating func begin(_ id: String) {
        count += 1
        sent = (id, .abandoned)
    }

    /// The request that was sent under the last intent has ended.
    package mutating func end(_ end: HoldOutcome.FormerHold) { sent?.end = end }
}
