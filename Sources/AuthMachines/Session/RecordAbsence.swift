/// Why a store that is open does not have a record.
package enum RecordAbsence: Sendable, Equatable {
    /// It may show it again: a keyring that is being unlocked shows nothing for a moment.
    case unsure
    /// Somebody has removed it.
    case removed
    /// The store has lost it, and nobody has removed it.
    case lost
}
