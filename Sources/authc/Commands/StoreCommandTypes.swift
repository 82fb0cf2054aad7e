import ArgumentParser
import AuthWire

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the store that sessions are kept in.",
        discussion: """
            Asks for the passphrase of sealed files; the first time it is yours to choose. A keyring asks by itself, on \
            the desktop; if there is none, the message bus is asked to start one.
            """)

    @OptionGroup var common: GeneralOptions

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    func run() throws {
        try common.run { options throws(Failure) in
            try StoreCommands.unlock(options, fromInput: passphraseStdin)
        }
    }
}

struct Store: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What sessions are kept in.", subcommands: [Rekey.self, Migrate.self])

    struct Rekey: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal every session with a new key.",
            discussion: """
                Without an option what opens the store stays as it is. With one, authd.toml's sealed_key is to say the same
                afterwards.
                """)

        @OptionGroup var common: GeneralOptions

        @Flag(help: "Open it by a new passphrase from now on; it is asked for.")
        var passphrase = false

        @Flag(help: "The same, read from standard input.")
        var passphraseStdin = false

        @Option(help: ArgumentHelp("Open it by this file's key from now on.", valueName: "file"))
        var keyFile: String?

        func validate() throws {
            guard [passphrase, passphraseStdin, keyFile != nil].count(where: { $0 }) <= 1 else {
                throw ValidationError("Give one of --passphrase, --passphrase-stdin and --key-file.")
            }
        }

        func run() throws {
            let key: StoreCommands.NewKey =
                keyFile.map { .file($0) }
                ?? (passphrase || passphraseStdin ? .passphrase(fromInput: passphraseStdin) : .sameOutside)
            try common.run { options throws(Failure) in try StoreCommands.rekey(options, with: key) }
        }
    }

    struct Migrate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move every session to another store.",
            discussion: """
                All of them are moved, or none. The next start of authd looks there, unless --store or authd.toml say \
                otherwise; then nothing is moved.
                """)

        @OptionGroup var common: GeneralOptions

        @Option(
            help: ArgumentHelp("secret-service or sealed-file.", valueName: "store"),
            transform: { word in
                guard let kind = StoreKind(rawValue: word) else {
                    throw ValidationError("Say --to secret-service or --to sealed-file.")
                }
                return kind
            })
        var to: StoreKind

        @Flag(help: "Read the passphrase of sealed files from standard input.")
        var passphraseStdin = false

        func run() throws {
            try common.run { options throws(Failure) in
                try StoreCommands.migrate(options, to: to, fromInput: passphraseStdin)
            }
        }
    }
}

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write sessions to a sealed file, for another machine.",
        discussion: """
            All of them, or the one that -s names. A passphrase seals the file, which is asked for; or the program age, to \
            recipients.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Where to; - is standard output.")
    var file: String

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    @Option(
        name: [.customShort("r"), .long],
        help: ArgumentHelp("Seal to this recipient of age, age1… or an SSH public key.", valueName: "recipient"))
    var recipient: [String] = []

    @Option(
        name: [.customShort("R"), .long],
        help: ArgumentHelp("Seal to the recipients in this file, one a line.", valueName: "file"))
    var recipientsFile: [String] = []

    func validate() throws {
        guard !passphraseStdin || recipient.isEmpty && recipientsFile.isEmpty else {
            throw ValidationError("Seal to recipients or by a passphrase, not both.")
        }
        guard !recipientsFile.contains("-") else { throw ValidationError("Name a file: --recipients-file FILE.") }
    }

    func run() throws {
        let isSealedToSomebody = !recipient.isEmpty || !recipientsFile.isEmpty
        let seal: BundleCommands.Seal =
            isSealedToSomebody
            ? .recipients(recipient, files: recipientsFile) : .passphrase(fromInput: passphraseStdin)
        try common.run { options throws(Failure) in try BundleCommands.export(options, to: file, sealedBy: seal) }
    }
}

struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Take the sessions of such a file.")

    @OptionGroup var common: GeneralOptions

    @Argument(help: "A file that `authc export FILE` wrote.")
    var file: String

    @Flag(help: "Read the passphrase from standard input.")
    var passphraseStdin = false

    @Option(
        name: [.customShort("i"), .long],
        help: ArgumentHelp("Open it with this identity of age, or SSH private key.", valueName: "file"))
    var identity: [String] = []

    func validate() throws {
        guard !passphraseStdin || identity.isEmpty else {
            throw ValidationError("Open it with an identity or a passphrase, not both.")
        }
        guard !identity.contains("-") else { throw ValidationError("Name a file: --identity FILE.") }
    }

    func run() throws {
        let seal: BundleCommands.Seal =
            identity.isEmpty ? .passphrase(fromInput: passphraseStdin) : .identities(identity)
        try common.run { options throws(Failure) in try BundleCommands.importBundle(options, from: file, openedBy: seal)
        }
    }
}
