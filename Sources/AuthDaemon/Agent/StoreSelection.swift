import AuthFiles
import AuthModel
import AuthWire

/// Which store `authc store migrate` has moved sessions to: the next start looks there, unless the command line or the
/// settings say otherwise.
struct StoreSelection: Sendable {
    /// Above the longest name.
    private static let maxBytes = 64

    private let folder: String
    private var file: AtomicFile { AtomicFile(path: folder + "/store") }

    init(in folder: String) {
        self.folder = folder
    }

    /// `nil`: sessions were never moved.
    var kind: StoreKind? {
        (try? file.read(atMost: Self.maxBytes)).flatMap { bytes in
            StoreKind(rawValue: String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self))
        }
    }

    func keep(_ kind: StoreKind) throws(StoreError) {
        do throws(SystemFailure) {
            try PrivateFolder.make(folder)
            try file.replace(with: Array((kind.rawValue + "\n").utf8))
        } catch {
            throw .failed(reason: "\(error)")
        }
    }
}
