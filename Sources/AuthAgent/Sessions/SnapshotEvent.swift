import AuthMachines
import AuthModel
import AuthWire

extension SessionSnapshot {
    /// The name of the event that reports this state of a session.
    /// - Parameter former: the state before; `nil`: the session was not known.
    func event(after former: SessionSnapshot?) -> String {
        guard let former, former.signIn == signIn else { return "added" }
        if former.status.state != status.state { return "state" }
        if former.token != token { return "renewed" }
        if former.ending < ending { return "ending" }
        return "changed"
    }
}

extension [SessionName: SessionStatus] {
    /// The first session, by name, that cannot be read before the store opens.
    var firstLocked: SessionName? { values.filter { $0.state == .keyringLocked }.map(\.session).min() }
}
