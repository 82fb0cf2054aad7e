import AuthClient
import AuthWire
import Glibc

/// Asks for the passphrase of the store, or of the lock, if a call needs it.
enum StorePassphrase {
    /// As in login(1).
    static let tries = 3

    /// Performs a call, again with each passphrase that the user gives.
    /// - Parameter what: what the passphrase opens.
    static func perform(
        _ options: Options, fromInput: Bool, of what: String = "your sessions",
        _ call: (String?) throws(Failure) -> JSON
    ) throws(Failure) -> JSON {
        var passphrase = fromInput ? try Passphrase.fromInput() : nil
        var triesLeft = tries
        while true {
            do throws(Failure) {
                return try call(passphrase)
            } catch {
                guard let isNew = wantsNewPassphrase(error), !fromInput, triesLeft > 0 else { throw error }
                guard options.canPrompt else {
                    var error = error
                    error.hint = "use --passphrase-stdin"
                    throw error
                }
                if passphrase != nil { Output.note(Visible.line(error.message)) }
                triesLeft -= 1
                passphrase = try Passphrase.ask(
                    isNew ? "New passphrase for \(what)" : "Passphrase of \(what)", isNew: isNew, options)
            }
        }
    }

    /// Whether the passphrase must be new; `nil` if the call failed for another reason.
    private static func wantsNewPassphrase(_ failure: Failure) -> Bool? {
        guard let error = failure.agentError, error.kind == .validation || error.kind == .refused else { return nil }
        return switch error.cause {
        case "passphrase": false
        case "new_passphrase": true
        default: nil
        }
    }
}
