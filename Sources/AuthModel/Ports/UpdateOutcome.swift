/// What became of a record that was to replace the stored one.
package enum UpdateOutcome: Sendable, Equatable {
    /// - Parameter endsHold: whether this host had the session to itself for a renewal, and does not any more.
    case written(endsHold: Bool = false)
    /// The stored record is newer.
    indirect case refused(by: SessionRecord)
    /// This host lost its hold, and another one has renewed or replaced the session since: the stored tokens are the
    /// later ones, whatever their dates are.
    indirect case overtaken(by: SessionRecord)

    /// The record that stayed.
    package var stored: SessionRecord? {
        switch self {
        case .written: nil
        case .refused(let stored), .overtaken(let stored): stored
        }
    }
}
