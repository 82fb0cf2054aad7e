import AuthClient
import AuthWire
import Glibc

/// `unlock`, `store rekey` and `store migrate`.
enum StoreCommands {
    /// As in login(1).
    private static let tries = 3

    static func unlock(_ options: Options, fromInput: Bool) throws(Failure) -> ExitStatus {
        let agent = try options.connect(beforeSecrets: true)
        let json = try open(options, fromInput: fromInput) { passphrase throws(Failure) in
            let request = AgentUnlock(passphrase: passphrase)
            let (store, json) = try agent.call(request)
            if !options.json { Output.note("The store is open (\(store.kind.rawValue)).") }
            return json
        }
        if options.json { try Output.json(json) }
        return .done
    }

    static func migrate(_ options: Options, to kind: StoreKind, fromInput: Bool) throws(Failure) -> ExitStatus {
        let agent = try options.connect(beforeSecrets: true)
        let json = try open(options, fromInput: fromInput) { passphrase throws(Failure) in
            let request = StoreMigrate(to: kind, passphrase: passphrase)
            let (result, json) = try agent.call(request)
            if !options.json { Output.note(Visible.lines(result.message ?? "")) }
            return json
        }
        if options.json { try Output.json(json) }
        return .done
    }

    /// Performs a call, and asks for a passphrase if it needs one.
    private static func open(
        _ options: Options, fromInput: Bool, _ call: (String?) throws(Failure) -> JSON
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
                    isNew ? "New passphrase for your sessions" : "Passphrase of your sessions", isNew: isNew, options)
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

    enum NewKey {
        case sameOutside
        case passphrase(fromInput: Bool)
        case file(String)
    }

    static func rekey(_ options: Options, with key: NewKey) throws(Failure) -> ExitStatus {
        let agent = try options.connect(beforeSecrets: true)
        let params =
            switch key {
            case .sameOutside: StoreRekey()
            case .passphrase(true): StoreRekey(passphrase: try Passphrase.fromInput())
            case .passphrase(false):
                StoreRekey(
                    passphrase: try Passphrase.ask("New passphrase for your sessions", isNew: true, options))
            case .file(let path): StoreRekey(key: try KeyFile.read(path))
            }
        let (result, json) = try agent.call(params)
        if options.json { try Output.json(json) } else { Output.note(Visible.lines(result.message ?? "")) }
        return .done
    }
}
