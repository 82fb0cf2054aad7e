import AuthClient
import AuthWire
import Glibc

/// `unlock` and `store rekey`: what a person does with the store itself.
enum StoreCommands {
    /// As login(1) has it: who has typed it wrong so often does not know it.
    private static let tries = 3

    static func unlock(_ options: Options, fromInput: Bool) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        var passphrase = fromInput ? try Passphrase.fromInput() : nil
        var triesLeft = tries
        while true {
            do throws(Failure) {
                let request = AgentRequest.agentUnlock(UnlockParams(passphrase: passphrase))
                let (store, json) = try agent.call(request, StoreInfo.init)
                if options.json {
                    try Output.json(json)
                } else {
                    Output.note("The store is open (\(store.kind.rawValue)).")
                }
                return .done
            } catch {
                guard let isNew = wantsNewPassphrase(error), !fromInput, triesLeft > 0 else { throw error }
                guard options.mayAsk else {
                    var error = error
                    error.hint = "give it by --passphrase-stdin"
                    throw error
                }
                if passphrase != nil { Output.note(Visible.line(error.message)) }
                triesLeft -= 1
                passphrase = try Passphrase.ask(
                    isNew ? "New passphrase for your sessions" : "Passphrase of your sessions", isNew: isNew, options)
            }
        }
    }

    /// `nil`: it fails for another reason than the passphrase.
    private static func wantsNewPassphrase(_ failure: Failure) -> Bool? {
        guard let error = failure.agentError, error.kind == .validation || error.kind == .refused else { return nil }
        return switch error.cause {
        case "passphrase": false
        case "new_passphrase": true
        default: nil
        }
    }

    enum NewKey {
        case sameOutside
        case passphrase(fromInput: Bool)
        case file(String)
    }

    static func rekey(_ options: Options, with key: NewKey) throws(Failure) -> ExitStatus {
        let params =
            switch key {
            case .sameOutside: RekeyParams()
            case .passphrase(true): RekeyParams(passphrase: try Passphrase.fromInput())
            case .passphrase(false):
                RekeyParams(
                    passphrase: try Passphrase.ask("New passphrase for your sessions", isNew: true, options))
            case .file(let path): RekeyParams(keyFile: try Self.whole(path))
            }
        let (result, json) = try options.connect().call(.storeRekey(params), MessageResult.init)
        if options.json { try Output.json(json) } else { Output.note(Visible.line(result.message ?? "")) }
        return .done
    }

    /// The agent has another folder than this command.
    private static func whole(_ path: String) throws(Failure) -> String {
        guard let found = unsafe realpath(path, nil) else {
            throw .usage("cannot open \(path): \(SystemError.text(errno))")
        }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }
}
