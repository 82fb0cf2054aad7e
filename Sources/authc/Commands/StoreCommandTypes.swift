import ArgumentParser
import AuthWire

struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the store that sessions are kept in.",
        discussion: """
            Asks for the passphrase of sealed files; the first time it is yours to choose. A keyring asks by itself, on \
            the desktop.
            """)

    @OptionGroup var common: CommonOptions

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
        abstract: "What sessions are kept in.", subcommands: [Rekey.self])

    struct Rekey: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Seal every session with a new key.",
            discussion: """
                Without an option what opens the store stays as it is. With one, authd.toml's sealed_key is to say the same
                afterwards.
                """)

        @OptionGroup var common: CommonOptions

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
}
