import AuthModel
import AuthWire

/// Which store `authc store migrate` has moved sessions to: the next start looks there, unless the command line or the
/// settings say otherwise.
struct StoreSelection: Sendable {
    /// Above the longest name.
    private static let maxBytes = 64

    private let folder: String
    private var file: RuntimeFile { RuntimeFile(path: folder + "/store") }

    init(in folder: String) {
        self.folder = folder
    }

    /// `nil`: sessions were never moved.
    var kind: StoreKind? {
        file.read(atMost: Self.maxBytes).flatMap { bytes in
            StoreKind(rawValue: String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
        }
    }

    func keep(_ kind: StoreKind) throws(StoreError) {
        do throws(SystemFailure) {
            try StateFolder.make(folder)
            try file.write(kind.rawValue + "\n", durably: true)
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}
