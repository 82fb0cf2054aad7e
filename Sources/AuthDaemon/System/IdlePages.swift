import CIdle
import Synchronization

/// Gives the pages back that a start, a sign-in or another change of state ran through (Docs/decisions/idle.md).
package final class IdlePages: Sendable {
    /// The change is still being told to whoever asked for it.
    private let isTelling = Atomic(false)

    package init() {}

    /// What led to a change is over: the next thing is mostly a long time of nothing.
    func stateChanged() {
        isTelling.store(true, ordering: .relaxed)
        authd_give_back_pages()
    }

    /// Who asked for the last change may have been this one.
    func clientLeft() {
        if isTelling.exchange(false, ordering: .relaxed) { authd_give_back_pages() }
    }
}
