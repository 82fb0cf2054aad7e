/// A question on the terminal that is asked again after a wrong answer, as often as for a password.
struct RepeatedQuestion {
    /// Without the colon after it.
    let text: String
    /// The answer if the user enters an empty line; `nil`: the question is asked again.
    var usual: String?
    /// The message if the input ends before there is an answer.
    let cancelled: String
    /// What to try after the last wrong answer, if its own error does not say that.
    var hint: String?

    /// - Parameter accept: gets an answer without spaces around it, and returns its value. Its error is shown to the user.
    /// - Throws: the last error of `accept`.
    func ask<Value>(_ accept: (String) throws(Failure) -> Value) throws(Failure) -> Value {
        var count = 0
        while true {
            guard let line = try TerminalInput.ask(Visible.line(text) + ": ", isSecret: false) else {
                throw .cancelled(cancelled)
            }
            guard let answer = line.trimmed.isEmpty ? usual : line.trimmed else { continue }
            do throws(Failure) {
                return try accept(answer)
            } catch {
                count += 1
                guard count < SignInTries.most else { throw error.withHint(hint) }
                Output.note(Visible.line([error.message, error.hint].compactMap(\.self).joined(separator: "; ")))
            }
        }
    }
}

extension Failure {
    /// The same with this hint, if it has none.
    fileprivate func withHint(_ hint: String?) -> Failure {
        var failure = self
        failure.hint = failure.hint ?? hint
        return failure
    }
}
