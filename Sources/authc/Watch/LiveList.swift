/// A list of the live view, in the order of the screen. Tab chooses the list in which keys select a line.
enum LiveList: CaseIterable {
    case sessions, renewals, callers, events
}
