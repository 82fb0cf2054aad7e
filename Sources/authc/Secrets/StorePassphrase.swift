import AuthConnection
import AuthWire

/// Asks for the passphrase of the store, or of the lock, if a call needs it.
enum StorePassphrase {
    /// As in login(1).
    static let tries = 3

    /// The passphrase that a refused call asks for.
    enum Kind {
        case present, new

        /// - Returns: `nil` if the call failed for another reason.
        init?(_ failure: Failure) {
            guard let error = failure.agentError, [.validation, .refused].contains(error.kind) else { return nil }
            switch error.cause {
            case "passphrase": self = .present
            case "new_passphrase": self = .new
            default: return nil
            }
        }
    }

    /// Performs a call, again with each passphrase that the user gives.
    /// - Parameter what: what the passphrase opens.
    static func perform(
        _ options: Options, fromInput: Bool, of what: String = "your sessions",
        _ call: (String?) throws(Failure) -> JSON
    ) throws(Failure) -> JSON {
        var passphrase = fromInput ? try Passphrase.fromInput() : nil
        return try retrying { () throws(Failure) in
            try call(passphrase)
        } after: { kind, error throws(Failure) in
            guard !fromInput else { throw error }
            guard options.canPrompt else {
                var error = error
                error.hint = Passphrase.fromFile
                throw error
            }
            if passphrase != nil { Output.note(Visible.lines(error.message)) }
            passphrase = try Passphrase.ask(
                kind == .new ? "New passphrase for \(what)" : "Passphrase of \(what)", isNew: kind == .new, options)
        }
    }

    /// Performs a call, and repeats it after each refusal for which there is another passphrase.
    /// - Parameter refusal: asks for the passphrase that the call needs, or throws the failure.
    static func retrying(
        _ call: () throws(Failure) -> JSON, after refusal: (Kind, Failure) throws(Failure) -> Void
    ) throws(Failure) -> JSON {
        var triesLeft = tries
        while true {
            do throws(Failure) {
                return try call()
            } catch {
                guard let kind = Kind(error), triesLeft > 0 else { throw error }
                triesLeft -= 1
                try refusal(kind, error)
            }
        }
    }
}
