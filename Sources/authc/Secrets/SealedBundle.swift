import AuthConnection
import AuthWire
import Glibc

/// Sessions in a file that is sealed with a passphrase, or for recipients of age.
enum SealedBundle {
    /// More than fits in a line of the protocol.
    static let maxBytes = Limits.lineBytes

    static func passphrase(_ options: Options, _ fromInput: Bool, isNew: Bool) throws(Failure) -> String {
        if fromInput { return try Passphrase.fromInput() }
        return try Passphrase.ask(
            "Passphrase for the export", isNew: isNew, atLeast: .characters(SessionExport.shortestPassphrase), options)
    }

    /// Checks the first bytes of the file (age-encryption.org/v1).
    static func isAge(_ bytes: [UInt8]) -> Bool {
        ["age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE-----"].contains { bytes.starts(with: $0.utf8) }
    }

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw .usage("cannot open \(path): \(SystemError.text(errno))") }
        let file = Descriptor(number)
        return try FileText.read(file.number, named: path, atMost: maxBytes)
    }
}
