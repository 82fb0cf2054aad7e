import AuthClient
import AuthWire
import Glibc

/// `export` and `import`: sessions in a file that is sealed with a passphrase, or for recipients of age.
enum BundleCommands {
    /// More than fits in a line of the protocol.
    private static let maxBytes = Limits.lineBytes

    /// How a file is sealed or opened.
    enum Seal {
        case passphrase(fromInput: Bool)
        case recipients([String], files: [String])
        case identities([String])
    }

    static func export(_ options: Options, to path: String, sealedBy seal: Seal) throws(Failure) -> ExitStatus {
        guard path != "-" || isatty(STDOUT_FILENO) == 0 else {
            throw .usage(
                "a terminal cannot show an export",
                hint: "name a file, or redirect the output: `authc export - > FILE`")
        }
        let agent = try options.connect(beforeSecrets: true)
        var passphrase: String?
        if case .passphrase(let fromInput) = seal { passphrase = try Self.passphrase(options, fromInput, isNew: true) }
        let params = SessionExport(session: try options.namedSession(), passphrase: passphrase)
        let (result, json) = try agent.call(params)
        var bytes = result.bytes
        if case .recipients(let recipients, let files) = seal {
            bytes = try AgeProgram.run(.seal(recipients: recipients, files: files), on: bytes, atMost: maxBytes)
        }
        // It is sealed, but no other user needs to read it.
        let file = try ResponseFile(path, isPrivate: true)
        try file.write(bytes)
        try file.finish()
        if options.json {
            guard path != "-" else { return .done }
            try Output.json(["sessions": json["sessions"] ?? .null])
            return .done
        }
        Output.note(Visible.line("Exported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        Output.note(
            "If a provider rotates tokens, use the sessions in one place only: `authc logout --no-revoke` ends them here."
        )
        return .done
    }

    static func importBundle(_ options: Options, from path: String, openedBy seal: Seal) throws(Failure) -> ExitStatus {
        let bytes = try read(path)
        let agent = try options.connect(beforeSecrets: true)
        let params: SessionImport
        switch seal {
        case .identities(let files):
            params = SessionImport(bytes: try AgeProgram.run(.open(identities: files), on: bytes, atMost: maxBytes))
        case .passphrase, .recipients:
            guard !isAge(bytes) else {
                throw .usage(
                    "\(path) is sealed for a recipient of age", hint: "name your identity file: --identity FILE")
            }
            var fromInput = false
            if case .passphrase(true) = seal { fromInput = true }
            params = SessionImport(bytes: bytes, passphrase: try passphrase(options, fromInput, isNew: false))
        }
        let (result, json) = try agent.call(params)
        if options.json {
            try Output.json(json)
        } else {
            Output.note(Visible.line("Imported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        }
        return .done
    }

    private static func passphrase(_ options: Options, _ fromInput: Bool, isNew: Bool) throws(Failure) -> String {
        if fromInput { return try Passphrase.fromInput() }
        return try Passphrase.ask(
            "Passphrase for the export", isNew: isNew, atLeast: SessionExport.shortestPassphrase, options)
    }

    /// Checks the first bytes of the file (age-encryption.org/v1).
    private static func isAge(_ bytes: [UInt8]) -> Bool {
        ["age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE-----"].contains { bytes.starts(with: $0.utf8) }
    }

    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        return try FileText.read(file.number, named: path, atMost: maxBytes)
    }
}
