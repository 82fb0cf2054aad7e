import AuthWire
import CommandArguments

struct Lock: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock the agent: no program gets a token until `authc unlock`.",
        discussion: """
            Sessions are renewed meanwhile. The first time, set a passphrase: `authc lock --set-passphrase`. Tokens that programs \
            already have stay valid until they end; `authc logout --all` revokes them, and works while the agent is locked.
            """)

    @OptionGroup var common: AskingOptions

    @Flag(help: "Set the passphrase that unlocks the agent, and do not lock it.")
    var setPassphrase = false

    @Flag(help: "With --set-passphrase: read the new passphrase from standard input.")
    var passphraseStdin = false

    @Option(
        help: ArgumentHelp("With --set-passphrase: read the current passphrase from this descriptor.", valueName: "fd"),
        completion: .nothing)
    var currentFd: Int32?

    func validate() throws(ValidationError) {
        guard setPassphrase || !passphraseStdin && currentFd == nil else {
            throw ValidationError("--passphrase-stdin and --current-fd need --set-passphrase.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if setPassphrase { return try change(options) }
        let (status, json) = try options.connect().call(AgentLock())
        if options.json { return try Output.jsonResult(json) }
        Output.note("The agent is locked. `authc unlock` unlocks it.")
        let end = status.tokensEndAt.map { "at \(WallClock.text($0, now: WallClock.now)) at the latest" }
        Output.note(
            Visible.line(
                "Tokens that programs already have stay valid until they end\(end.map { ", \($0)" } ?? "")."
                    + " `authc logout --all` revokes them."))
        return .done
    }

    private func change(_ options: Options) throws(Failure) -> ExitStatus {
        var current = try FieldArguments.currentPassphrase(from: currentFd, options)
        let agent = try options.connect(beforeSecrets: true)
        let given = passphraseStdin ? try Passphrase.fromInput() : nil
        var new = if let given { given } else { try askForNew(options) }
        let json = try StorePassphrase.retrying { () throws(Failure) in
            try agent.call(AgentPassphrase(passphrase: new, current: current)).json
        } after: { kind, error throws(Failure) in
            guard options.canPrompt, kind == .new ? !passphraseStdin : currentFd == nil else {
                var error = error
                if kind == .present, current == nil { error.hint = "use --current-fd" }
                throw error
            }
            if kind == .new || current != nil { Output.note(Visible.lines(error.message)) }
            switch kind {
            case .new: new = try askForNew(options)
            case .present: current = try Passphrase.ask("Current passphrase of the lock", isNew: false, options)
            }
        }
        if options.json { return try Output.jsonResult(json) }
        Output.note("The passphrase is set. `authc lock` locks the agent.")
        return .done
    }

    private func askForNew(_ options: Options) throws(Failure) -> String {
        try Passphrase.ask("New passphrase of the lock", isNew: true, options)
    }
}

struct Unlock: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Unlock the agent.",
        discussion: """
            Asks for the passphrase that `authc lock --set-passphrase` has set. After three wrong ones in five minutes, the agent \
            checks none for five minutes. To open the store of the sessions, use `authc store unlock`.
            """)

    @OptionGroup var common: AskingOptions

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    @Flag(help: "Have polkit check that you are there, instead of a passphrase. The settings must allow it.")
    var presence = false

    func validate() throws(ValidationError) {
        guard !presence || !passphraseStdin else {
            throw ValidationError("--presence and --passphrase-stdin exclude each other.")
        }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if presence {
            let (_, json) = try options.connect().call(AgentUnlock(presence: true))
            if options.json { return try Output.jsonResult(json) }
            Output.note("The agent is unlocked.")
            return .done
        }
        let agent = try options.connect(beforeSecrets: true)
        let json = try StorePassphrase.perform(options, fromInput: passphraseStdin, of: "the lock") {
            passphrase throws(Failure) in
            let (_, json) = try agent.call(AgentUnlock(passphrase: passphrase))
            if !options.json { Output.note("The agent is unlocked.") }
            return json
        }
        if options.json { try Output.json(json) }
        return .done
    }
}
