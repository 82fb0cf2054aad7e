/// A list of the live view, in the order of the screen. Tab chooses the one in which keys move.
enum LiveList: CaseIterable {
    case sessions, renewals, callers, events
}
