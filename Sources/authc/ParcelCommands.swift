import AuthClient
import AuthWire
import Glibc

/// `export` and `import`: sessions in a file that a passphrase has sealed.
enum ParcelCommands {
    /// Above what one line of the protocol holds.
    private static let mostBytes = Limits.lineBytes

    static func export(_ options: Options, to path: String, fromInput: Bool) throws(Failure) -> ExitStatus {
        let passphrase = try passphrase(options, fromInput, isNew: true)
        let params = ExportParams(session: try options.namedSession(), passphrase: passphrase)
        let (result, json) = try options.connect().call(.sessionExport(params), ExportResult.init)
        // Sealed as it is, it is nobody else's business.
        umask(0o077)
        let file = try AnswerFile(path)
        try file.write(result.bytes)
        try file.finish()
        if options.json {
            guard path != "-" else { return .done }
            try Output.json(["sessions": json["sessions"] ?? .null])
            return .done
        }
        Output.note(Visible.line("Exported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        Output.note(
            "Where a provider rotates tokens, use them in one place only: `authc logout --no-revoke` leaves here.")
        return .done
    }

    static func take(_ options: Options, from path: String, fromInput: Bool) throws(Failure) -> ExitStatus {
        let bytes = try read(path)
        let params = ImportParams(bytes: bytes, passphrase: try passphrase(options, fromInput, isNew: false))
        let (result, json) = try options.connect().call(.sessionImport(params), ImportResult.init)
        if options.json {
            try Output.json(json)
        } else {
            Output.note(Visible.line("Imported: \(result.sessions.map(\.text).joined(separator: ", "))."))
        }
        return .done
    }

    private static func passphrase(_ options: Options, _ fromInput: Bool, isNew: Bool) throws(Failure) -> String {
        if fromInput { return try Passphrase.fromInput() }
        return try Passphrase.ask("Passphrase for the export", isNew: isNew, options)
    }

    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        return try FileText.read(file.number, named: path, atMost: mostBytes)
    }
}
