import AuthWire
import CommandArguments

struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Manage the store of the sessions.",
        subcommands: [Open.self, Rekey.self, Migrate.self])

    struct Open: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: "Open the store of the sessions.",
            discussion: """
                For sealed files and etcd, asks for the passphrase. The first time, you choose it. A keyring shows its own prompt on \
                the desktop. If no keyring runs, authd asks the message bus to start one.
                """)

        @OptionGroup var common: AskingOptions

        @Flag(help: "Read the passphrase from standard input.")
        var passphraseStdin = false

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let agent = try options.connect(beforeSecrets: true)
            let json = try StorePassphrase.perform(options, fromInput: passphraseStdin) { passphrase throws(Failure) in
                let request = StoreUnlock(passphrase: passphrase)
                let (store, json) = try agent.call(request)
                if !options.json { Output.note("The store is open (\(store.kind.rawValue)).") }
                return json
            }
            if options.json { try Output.json(json) }
            return .done
        }
    }

    struct Rekey: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "rekey", abstract: "Seal every session with a new key.",
            discussion: """
                Without an option, the same passphrase or key file opens the store. With one, change sealed_key in \
                authd.toml afterwards. If a passphrase opens the store until then, authc asks for it.
                """)

        @OptionGroup var common: AskingOptions

        @Flag(help: "Use a new passphrase from now on. authc asks for it.")
        var passphrase = false

        @Flag(help: "Read the new passphrase from standard input.")
        var passphraseStdin = false

        @Option(help: ArgumentHelp("Use the key in this file from now on.", valueName: "file"), completion: .file)
        var keyFile: String?

        @Option(
            help: ArgumentHelp("Read the current passphrase from this descriptor.", valueName: "fd"),
            completion: .nothing)
        var currentFd: Int32?

        func validate() throws(ValidationError) {
            let ways = [passphrase, passphraseStdin, keyFile != nil].count(where: { $0 })
            guard ways <= 1 else {
                throw ValidationError("Use only one of --passphrase, --passphrase-stdin and --key-file.")
            }
            guard ways == 1 || currentFd == nil else {
                throw ValidationError("--current-fd needs --passphrase, --passphrase-stdin or --key-file.")
            }
        }

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let current = try FieldArguments.currentPassphrase(from: currentFd, options)
            let agent = try options.connect(beforeSecrets: true)
            var params =
                if let keyFile {
                    StoreRekey(key: try KeyFile.read(keyFile))
                } else if passphraseStdin {
                    StoreRekey(passphrase: try Passphrase.fromInput())
                } else if passphrase {
                    StoreRekey(passphrase: try askForNew(options))
                } else {
                    StoreRekey()
                }
            params.current = current
            var message: String?
            let json = try StorePassphrase.retrying { () throws(Failure) in
                let (result, json) = try agent.call(params, usually: Agent.changeOfAllSessions)
                message = result.message
                return json
            } after: { kind, error throws(Failure) in
                guard options.canPrompt, kind == .new ? passphrase : currentFd == nil else {
                    var error = error
                    if kind == .present, params.current == nil { error.hint = "use --current-fd" }
                    throw error
                }
                if kind == .new || params.current != nil { Output.note(Visible.lines(error.message)) }
                switch kind {
                case .new: params.passphrase = try askForNew(options)
                case .present:
                    params.current = try Passphrase.ask("Current passphrase of your sessions", isNew: false, options)
                }
            }
            if options.json { try Output.json(json) } else { Output.note(Visible.lines(message ?? "")) }
            return .done
        }

        private func askForNew(_ options: Options) throws(Failure) -> String {
            try Passphrase.ask("New passphrase for your sessions", isNew: true, options)
        }
    }

    struct Migrate: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Move every session to another store.",
            discussion: """
                Moves all of them, or none. authd uses the new store from its next start on. If --store or authd.toml names \
                another store, nothing is moved. From etcd, it asks first: the sessions end on the other hosts that share them.
                """)

        @OptionGroup var common: AskingOptions

        @Option(
            help: ArgumentHelp("secret-service, sealed-file or etcd.", valueName: "store"),
            completion: .list(["secret-service", "sealed-file", "etcd"]),
            transform: { word throws(ValidationError) in
                guard let kind = StoreKind(rawValue: word) else {
                    throw ValidationError(NameAdvice.refusal(of: word, ["secret-service", "sealed-file", "etcd"]))
                }
                return kind
            })
        var to: StoreKind

        @Flag(help: "Read the passphrase of sealed files from standard input.")
        var passphraseStdin = false

        @Flag(help: "End the sessions on the other hosts that share them in etcd, without a prompt.")
        var yes = false

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let agent = try options.connect(beforeSecrets: true)
            var hasAgreed = yes
            let json = try StorePassphrase.perform(options, fromInput: passphraseStdin) { passphrase throws(Failure) in
                var request = StoreMigrate(to: to, passphrase: passphrase, endsElsewhere: hasAgreed)
                let answer: (value: MessageResult, json: JSON)
                do throws(Failure) {
                    answer = try agent.call(request, usually: Agent.changeOfAllSessions)
                } catch {
                    guard let refusal = error.agentError, refusal.cause == StoreMigrate.otherHostsCause else {
                        throw error
                    }
                    try agree(to: refusal, options)
                    (hasAgreed, request.endsElsewhere) = (true, true)
                    answer = try agent.call(request, usually: Agent.changeOfAllSessions)
                }
                if !options.json { Output.note(Visible.lines(answer.value.message ?? "")) }
                return answer.json
            }
            if options.json { try Output.json(json) }
            return .done
        }

        /// - Throws: if the user does not agree, or cannot be asked.
        private func agree(to refusal: AgentError, _ options: Options) throws(Failure) {
            guard options.canPrompt else {
                throw .usage("\(refusal.message) There is no terminal to ask on.", hint: "use --yes to agree")
            }
            Output.note(Visible.lines(refusal.message))
            let answer = try TerminalInput.ask("Move the sessions, and end them there? [y/N] ", isSecret: false)
            guard ["y", "yes"].contains(answer?.lowercased() ?? "") else { throw .cancelled("nothing was changed") }
        }
    }
}
