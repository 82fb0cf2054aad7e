import AuthWire
import CommandArguments
import Glibc

struct Export: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write sessions to a sealed file, for another machine.",
        discussion: """
            Exports all sessions, or the one that -s names. The file is sealed with a passphrase, which authc asks for, \
            or for recipients of the program age.
            """)

    @OptionGroup var common: AskingCommonOptions

    @Argument(help: "The file to write; - is standard output.", completion: .file)
    var file: String

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    @Option(
        name: [.customShort("r"), .long],
        help: ArgumentHelp("Seal for this recipient of age, or for an SSH public key.", valueName: "recipient"),
        completion: .nothing)
    var recipient: [String] = []

    @Option(
        name: [.customShort("R"), .long],
        help: ArgumentHelp("Seal for the recipients in this file, one per line.", valueName: "file"),
        completion: .file)
    var recipientsFile: [String] = []

    func validate() throws(ValidationError) {
        guard !passphraseStdin || recipient.isEmpty && recipientsFile.isEmpty else {
            throw ValidationError("Use recipients or a passphrase, not both.")
        }
        guard !recipientsFile.contains("-") else { throw ValidationError("Name a file: --recipients-file FILE.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        guard file != "-" || isatty(STDOUT_FILENO) == 0 else {
            throw .usage(
                "a terminal cannot show an export",
                hint: "name a file, or redirect the output: `authc export - > FILE`")
        }
        let agent = try options.connect(beforeSecrets: true)
        let usesAge = !recipient.isEmpty || !recipientsFile.isEmpty
        let passphrase = usesAge ? nil : try SealedBundle.passphrase(options, passphraseStdin, isNew: true)
        let params = SessionExport(session: try options.namedSession(), passphrase: passphrase)
        let (result, json) = try agent.call(params)
        var bytes = result.bytes
        if usesAge {
            bytes = try AgeProgram.run(
                .seal(recipients: recipient, files: recipientsFile), on: bytes, atMost: SealedBundle.maxBytes)
        }
        // It is sealed, but no other user needs to read it.
        let output = try ResponseFile(file, isPrivate: true)
        try output.write(bytes)
        try output.finish()
        if options.json {
            guard file != "-" else { return .done }
            return try Output.jsonResult(["sessions": json["sessions"] ?? .null])
        }
        Output.note(Visible.line("Exported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        Output.note(Self.advice(onlyFor: params.session))
        return .done
    }

    /// Two machines that renew the same session would end it.
    private static func advice(onlyFor session: SessionName?) -> String {
        guard let session else {
            return "If a provider rotates tokens, use its sessions in one place only: "
                + "`authc logout --all --no-revoke` ends all of them here."
        }
        return "If its provider rotates tokens, use the session in one place only: "
            + "`authc logout -s \(session) --no-revoke` ends it here."
    }
}

struct Import: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import the sessions of a file that `authc export FILE` wrote.")

    @OptionGroup var common: AskingOptions

    @Argument(help: "The file.", completion: .file)
    var file: String

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp("Open the file with this identity of age or SSH private key.", valueName: "file"),
        completion: .file)
    var identity: [String] = []

    func validate() throws(ValidationError) {
        guard !passphraseStdin || identity.isEmpty else {
            throw ValidationError("Use an identity or a passphrase, not both.")
        }
        guard !identity.contains("-") else { throw ValidationError("Name a file: --identity FILE.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let bytes = try SealedBundle.read(file)
        let agent = try options.connect(beforeSecrets: true)
        let params: SessionImport
        if !identity.isEmpty {
            params = SessionImport(
                bytes: try AgeProgram.run(.open(identities: identity), on: bytes, atMost: SealedBundle.maxBytes))
        } else {
            guard !SealedBundle.isAge(bytes) else {
                throw .usage(
                    "\(file) is sealed for a recipient of age", hint: "name your identity file: --identity FILE")
            }
            let passphrase = try SealedBundle.passphrase(options, passphraseStdin, isNew: false)
            params = SessionImport(bytes: bytes, passphrase: passphrase)
        }
        let (result, json) = try agent.call(params)
        if options.json { return try Output.jsonResult(json) }
        Output.note(Visible.line("Imported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        return .done
    }
}
