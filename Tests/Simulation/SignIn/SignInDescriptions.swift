import AuthMachines

// What a trace says. Without secrets, and without what differs between two runs of a schedule.

extension SignInEvent {
    var words: String { String("\(self)".prefix { $0 != "(" }) }
}

extension SignInAction {
    var words: String { String("\(self)".prefix { $0 != "(" }) }
}
